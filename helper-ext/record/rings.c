/* SPDX-License-Identifier: MIT */
/* rings.c - from shared memory into streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "procfs.h"
#include "rings.h"
#include "shared/ticks.h"

/* Records between two stores of tail: few stores, but room for the producer soon. */
#define BATCH 4096u

/* Ops that need more than being passed on. */
#define SPECIAL_OPS (1u << OP_RING_THREAD | 1u << OP_LOST | 1u << OP_HELLO | 1u << OP_SNAPSHOT)

static int check_geometry(const struct ring *shared, off_t size)
{
	uint32_t n = shared->nrecords;

	if (shared->magic != RING_MAGIC || shared->version != RING_VERSION)
		return -EINVAL;
	if (n < RING_RECORDS_MIN || n > RING_RECORDS_MAX || n & (n - 1))
		return -EINVAL;
	return (size_t)size == ring_size(n) ? (int)n : -EINVAL;
}

/* Maps fd. Returns the number of its records or a negative errno. */
static int map_ring(int fd, struct ring **shared)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS), n;

	if (seals < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)ring_size(RING_RECORDS_MIN))
		return -EINVAL;
	if (!(seals & F_SEAL_SHRINK))
		return -EPERM;
	*shared = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*shared == MAP_FAILED)
		return -errno;
	n = check_geometry(*shared, st.st_size);
	if (n < 0)
		munmap(*shared, st.st_size);
	return n;
}

/* Most programs have no more threads. What an ordinary user's buffers may take is 2 to 10 MB, for all of them. */
#define ROOMY 4u

void rings_meet(struct rings *rs, uint32_t pid, uint32_t tid)
{
	if (rs->clock)
		met_add(&rs->met, pid, tid, rs->flight, rs->natives.hz, rs->out->threads < ROOMY);
}

/* The thread has ended, or has another ring. */
static void close_switches(struct rings *rs, struct ring_map *r)
{
	rs->natives.dropped += r->switches.samples ? r->switches.dropped : 0;
	switches_close(&r->switches);
	kept_free(&r->kept);
}

static void switch_thread(struct rings *rs, struct ring_map *r, uint32_t pid, uint32_t tid)
{
	char comm[PROCFS_COMM];

	procfs_comm(pid, tid, comm);
	rs->out->threads++;
	stream_open(&r->stream, rs->out, pid, tid, comm);
	close_switches(rs, r);
	if (!rs->flight)
		r->switches = met_take(&rs->met, pid, tid);
	rs->natives.unseen += rs->natives.hz && !r->switches.samples;
}

/* After exec a thread has a new ring: its switches do not go into the stream of the old one, too. */
static void leave_ring(struct rings *rs, uint32_t pid, uint32_t tid)
{
	for (struct ring_map *r = rs->first; r; r = r->next)
		if (r->stream.pid == pid && r->stream.tid == tid)
			close_switches(rs, r);
	natives_remapped(&rs->natives, pid);
}

int rings_add(struct rings *rs, int fd, uint32_t pid, uint32_t tid)
{
	struct ring_map *r = calloc(1, sizeof(*r)); /* of a thread that writes little, most is never touched */
	int n;

	if (!r)
		return -ENOMEM;
	n = map_ring(fd, &r->shared);
	if (n < 0) {
		free(r);
		return n;
	}
	r->nrecords = n;
	r->origin = r->shared->first;
	r->tail = atomic_load_explicit(&r->shared->tail, memory_order_relaxed);
	r->coarse = rs->coarse;
	r->spread.next = r->tail;
	leave_ring(rs, pid, tid);
	r->next = rs->first;
	rs->first = r;
	rings_meet(rs, pid, tid);
	switch_thread(rs, r, pid, tid);
	return 0;
}

void rings_thread(struct rings *rs, struct ring_map *r, uint32_t tid)
{
	if (r->stream.tid != tid)
		switch_thread(rs, r, r->stream.pid, tid);
}

/* After a HELLO the thread is said to run. In a duty cycle, where a window begins; between windows nothing is. */
static void take_beginning(const struct rings *rs, struct ring_map *r, uint64_t tsc, uint64_t word)
{
	bool snapshot = marker_is_snapshot(word);

	stream_put(&r->stream, tsc, word);
	if (snapshot && word & 1)
		r->stream.cpu = 0;
	else if (r->switches.page && snapshot == rs->windows)
		stream_cpu(&r->stream, tsc, marker_cpu(true, false, false, MARKER_CPU_UNKNOWN));
}

static void take_special(struct rings *rs, struct ring_map *r, uint64_t tsc, uint64_t word)
{
	struct stream *s = &r->stream;

	if (marker_op(word) == OP_RING_THREAD) {
		stream_flush(s);
		switch_thread(rs, r, s->pid, (uint32_t)word);
	} else if (marker_op(word) == OP_LOST) {
		stream_lost(s, tsc, marker_lost_count(word));
	} else {
		take_beginning(rs, r, tsc, word);
	}
}

/*
 * Takes up to n records, for which the stream has room, at least one. A special one is the last, because the room, and
 * the thread, are others after it. Returns how many. Each field is read once: it may change.
 */
static uint32_t take_records(struct rings *rs, struct ring_map *r, uint32_t n)
{
	struct ring_record *records = ring_records(r->shared);
	uint64_t from = r->tail;

	for (; n; n--) {
		struct ring_record *rec = &records[r->tail++ & (r->nrecords - 1)];
		uint64_t tsc = __atomic_load_n(&rec->tsc, __ATOMIC_RELAXED);
		uint64_t word = __atomic_load_n(&rec->word, __ATOMIC_RELAXED);

		if (__builtin_expect(SPECIAL_OPS >> marker_op(word) & 1, 0)) {
			take_special(rs, r, tsc, word);
			break;
		}
		stream_put(&r->stream, tsc, word);
	}
	atomic_store_explicit(&r->shared->tail, r->tail, memory_order_release);
	return (uint32_t)(r->tail - from);
}

/* Is the last of n records half of an event? Its other half, which follows at once, must be in the same chunk. */
static bool ends_in_wide(struct ring_map *r, uint64_t n)
{
	struct ring_record *last = &ring_records(r->shared)[(r->tail + n - 1) & (r->nrecords - 1)];

	return n && marker_op(__atomic_load_n(&last->word, __ATOMIC_RELAXED)) == OP_WIDE;
}

/* How many of the next n records were written before tsc. */
static uint32_t count_before(const struct ring_map *r, uint32_t n, uint64_t tsc)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct ring_record *rec = &ring_records(r->shared)[(r->tail + middle) & (r->nrecords - 1)];

		if (__atomic_load_n(&rec->tsc, __ATOMIC_RELAXED) < tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t rings_tsc(const struct rings *rs, const struct switched *sw)
{
	return clock_tsc(rs->clock, sw->ns - (sw->woken ? rs->wakeup->ns : 0));
}

/* The same by clocks that were read once a round. */
static uint64_t switch_tsc(struct rings *rs, const struct switched *sw)
{
	if (!rs->fresh) {
		clock_update(rs->clock);
		wakeup_measure(rs->wakeup);
	}
	rs->fresh = true;
	return rings_tsc(rs, sw);
}

/* The end of a window has the time of that, whenever it was written; other words that of when the thread ran. */
static bool ends_window(const struct ring_map *r)
{
	const struct ring_record *next = &ring_records(r->shared)[r->tail & (r->nrecords - 1)];

	return marker_is_snapshot(__atomic_load_n(&next->word, __ATOMIC_RELAXED));
}

static const struct switched *next_switch(struct ring_map *r)
{
	const struct kept_switch *kept = kept_oldest(&r->kept);

	return kept ? &kept->at : switches_peek(&r->switches);
}

/*
 * How many of the next n records come before the thread's next switch. Once it is out, nothing comes before it is in,
 * unless switches were lost: among them it was in, and its words of then must not be as late as what follows. The two
 * halves of an event stay together.
 */
static uint32_t until_switch(struct rings *rs, struct ring_map *r, uint32_t n)
{
	const struct switched *sw = next_switch(r);

	if (!sw)
		return n;
	if (sw->in && !sw->lost && r->stream.cpu && !(r->stream.cpu & MARKER_CPU_IN) && !ends_window(r))
		return 0;
	n = count_before(r, n, switch_tsc(rs, sw));
	return n - ends_in_wide(r, n);
}

/* Of the switch in the kernel's buffer that was peeked at, if it is a sample: the number of its stack. */
static uint32_t take_stack(struct rings *rs, const struct ring_map *r, const struct switched *sw)
{
	if (sw->mapped)
		natives_remapped(&rs->natives, r->stream.pid);
	return sw->sample && r->stream.cpu ? natives_take(&rs->natives, r->stream.pid, &r->switches) : 0;
}

/* Before the thread's first word, and between windows, its switches are of no interest. */
static void put_switch(struct rings *rs, struct ring_map *r, const struct switched *sw, uint32_t stack)
{
	if (!r->stream.cpu)
		return;
	if (!sw->sample)
		stream_cpu(&r->stream, switch_tsc(rs, sw), marker_cpu(sw->in, sw->preempted, sw->lost, sw->cpu));
	else if (stack)
		stream_added(&r->stream, switch_tsc(rs, sw), marker_extension(0, KIND_NATIVE, stack));
}

/* next_switch() */
static void take_switch(struct rings *rs, struct ring_map *r)
{
	const struct kept_switch *kept = kept_oldest(&r->kept);
	const struct switched *sw;

	if (kept) {
		put_switch(rs, r, &kept->at, kept->stack);
		kept_take(&r->kept);
		return;
	}
	sw = switches_peek(&r->switches);
	put_switch(rs, r, sw, take_stack(rs, r, sw));
	switches_take(&r->switches);
}

/*
 * Switches after the last record wait for the next one: a thread tells afterwards what it waited for, at the times when
 * it did. The kernel would drop those that it has no room for; without memory it does, and says so.
 */
static void keep_crowd(struct rings *rs, struct ring_map *r)
{
	const struct switched *sw;

	while (switches_crowded(&r->switches) && (sw = switches_peek(&r->switches)) &&
	       kept_add(&r->kept, sw, take_stack(rs, r, sw)))
		switches_take(&r->switches);
}

/* Those that cannot wait: they are too many, or (`last`) no record will follow. */
static void take_kept(struct rings *rs, struct ring_map *r, bool last)
{
	while (kept_oldest(&r->kept) && (last || kept_full(&r->kept)))
		take_switch(rs, r);
}

/*
 * Up to where records have times. Others wait for one that has, unless there will be none (`last`), or switches
 * that cannot wait any more must not come before them.
 */
static uint64_t give_times(struct ring_map *r, uint64_t before, uint64_t head, bool last)
{
	struct ring_record *records = ring_records(r->shared);
	uint32_t mask = r->nrecords - 1;
	uint64_t now = ticks_now();

	if (!r->coarse)
		return head;
	spread_between(&r->spread, records, mask, head);
	if (last || kept_full(&r->kept))
		spread_rest(&r->spread, records, mask, head, last ? r->spread.pace : 0, now);
	else
		spread_look(&r->spread, head, before, now);
	return r->spread.next;
}

/*
 * Takes what was in the ring when we looked, and the switches up to there. Those before a record can be seen if it can:
 * the same thread wrote them. `last`: it will write no more. Returns the number of records that were there, or
 * UINT64_MAX: damaged.
 */
static uint64_t drain_ring(struct rings *rs, struct ring_map *r, bool last)
{
	uint64_t before = ticks_now(), head, there, n;

	keep_crowd(rs, r); /* before the head: what the thread wrote before these is seen, too */
	head = rings_head(r);
	there = head - r->tail;
	if (there > r->nrecords)
		return UINT64_MAX;
	n = give_times(r, before, head, last) - r->tail;
	n -= ends_in_wide(r, n);
	for (uint64_t left = n; left;) {
		uint32_t batch = until_switch(rs, r, left < BATCH ? left : BATCH), room = stream_room(&r->stream);

		if (!batch) {
			take_switch(rs, r);
			continue;
		}
		if (batch > room)
			batch = room;
		batch -= ends_in_wide(r, batch); /* any chunk may become the first that is kept */
		if (batch)
			left -= take_records(rs, r, batch);
		else
			stream_flush(&r->stream);
	}
	take_kept(rs, r, last);
	return there;
}

/* Releases a drained ring. Its thread can no longer report what it dropped last, so this does. */
static void end_ring(struct rings *rs, struct ring_map **at)
{
	struct ring_map *r = *at;
	uint64_t lost = atomic_load_explicit(&r->shared->lost, memory_order_relaxed);

	if (lost)
		stream_lost(&r->stream, r->stream.clock, lost);
	stream_flush(&r->stream);
	close_switches(rs, r);
	munmap(r->shared, ring_size(r->nrecords));
	*at = r->next;
	free(r);
}

#define NOBODY	  0u
#define EVERYBODY UINT32_MAX

/* `ended`: the process that will write no more. */
static unsigned int drain(struct rings *rs, uint32_t ended)
{
	struct ring_map **at = &rs->first, *r;
	uint64_t fullest = 0;

	rs->fresh = false;
	while ((r = *at)) {
		/* Before the head: a producer sets it after its last record. */
		uint32_t finished = atomic_load_explicit(&r->shared->finished, memory_order_acquire);
		uint64_t n = drain_ring(rs, r, finished || ended == EVERYBODY || ended == r->stream.pid);

		if (n == UINT64_MAX) {
			atomic_store_explicit(&r->shared->closed, RING_ENDED, memory_order_release);
			rs->damaged++;
			finished = 1;
			n = 0;
		}
		if (n * 100 / r->nrecords > fullest)
			fullest = n * 100 / r->nrecords;
		if (finished)
			end_ring(rs, at);
		else
			at = &r->next;
	}
	return (unsigned int)fullest;
}

unsigned int rings_drain(struct rings *rs)
{
	return drain(rs, NOBODY);
}

void rings_flush(struct rings *rs)
{
	for (struct ring_map *r = rs->first; r; r = r->next)
		stream_flush(&r->stream);
}

uint64_t rings_pending(const struct rings *rs)
{
	uint64_t bytes = 0;

	for (const struct ring_map *r = rs->first; r; r = r->next)
		bytes += r->stream.used;
	return bytes;
}

static void reopen(struct rings *rs, struct ring_map *r, bool hello)
{
	uint64_t last = atomic_load_explicit(&r->shared->hello, memory_order_relaxed);
	uint64_t clock = r->stream.clock, cpu = r->stream.cpu;
	char comm[PROCFS_COMM];

	procfs_comm(r->stream.pid, r->stream.tid, comm);
	stream_open(&r->stream, rs->out, r->stream.pid, r->stream.tid, comm);
	/* At or after tail it comes by itself. */
	if (hello && clock && last >> 20 < r->tail)
		stream_put(&r->stream, clock, marker_hello(0, last & 0xfffff));
	if (r->stream.words && cpu)
		stream_cpu(&r->stream, clock, cpu);
	r->stream.markers = r->stream.added =
		0; /* not the program's: a file with nothing else is empty, and stays the newest */
}

void rings_reopen(struct rings *rs, bool hello)
{
	rs->out->streams = 0;
	for (struct ring_map *r = rs->first; r; r = r->next)
		reopen(rs, r, hello);
}

void rings_end_process(struct rings *rs, uint32_t pid)
{
	drain(rs, pid);
	rings_drop(rs, pid);
}

void rings_let_go(struct rings *rs, struct ring_map *r)
{
	struct ring_map **at = &rs->first;

	while (*at != r)
		at = &(*at)->next;
	end_ring(rs, at);
}

void rings_drop(struct rings *rs, uint32_t pid)
{
	struct ring_map **at = &rs->first;

	while (*at) {
		if (!pid || (*at)->stream.pid == pid)
			end_ring(rs, at);
		else
			at = &(*at)->next;
	}
	met_drop(&rs->met, pid);
}

void rings_close(struct rings *rs, enum ring_closed why)
{
	for (struct ring_map *r = rs->first; r; r = r->next)
		atomic_store_explicit(&r->shared->closed, why, memory_order_release);
}

void rings_finish(struct rings *rs)
{
	rings_close(rs, RING_ENDED);
	drain(rs, EVERYBODY);
	rings_drop(rs, 0);
}
