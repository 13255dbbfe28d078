/* SPDX-License-Identifier: MIT */
/* rings.c - from shared memory into streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "procfs.h"
#include "rings.h"

/* Records between two stores of tail: few stores, but room for the producer soon. */
#define BATCH 4096u

/* Ops that need more than being passed on. */
#define SPECIAL_OPS (1u << OP_RING_THREAD | 1u << OP_LOST)

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

static void switch_thread(struct rings *rs, struct stream *s, uint32_t pid, uint32_t tid)
{
	char comm[PROCFS_COMM];

	procfs_comm(pid, tid, comm);
	rs->out->threads++;
	stream_open(s, rs->out, pid, tid, comm);
}

int rings_add(struct rings *rs, int fd, uint32_t pid, uint32_t tid)
{
	struct ring_map *r = malloc(sizeof(*r));
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
	r->prepared = false;
	r->tail = atomic_load_explicit(&r->shared->tail, memory_order_relaxed);
	r->next = rs->first;
	rs->first = r;
	switch_thread(rs, &r->stream, pid, tid);
	return 0;
}

void rings_thread(struct rings *rs, struct ring_map *r, uint32_t tid)
{
	if (r->stream.tid != tid)
		switch_thread(rs, &r->stream, r->stream.pid, tid);
}

static void take_special(struct rings *rs, struct stream *s, uint64_t tsc, uint64_t word)
{
	if (marker_op(word) == OP_RING_THREAD) {
		stream_flush(s);
		switch_thread(rs, s, s->pid, (uint32_t)word);
		return;
	}
	stream_lost(s, tsc, marker_lost_count(word));
}

/* Takes n records, for which the stream has room. Each field is read once: it may change. */
static void take_records(struct rings *rs, struct ring_map *r, uint32_t n)
{
	struct ring_record *records = ring_records(r->shared);

	for (; n; n--, r->tail++) {
		struct ring_record *rec = &records[r->tail & (r->nrecords - 1)];
		uint64_t tsc = __atomic_load_n(&rec->tsc, __ATOMIC_RELAXED);
		uint64_t word = __atomic_load_n(&rec->word, __ATOMIC_RELAXED);

		if (__builtin_expect(SPECIAL_OPS >> marker_op(word) & 1, 0))
			take_special(rs, &r->stream, tsc, word);
		else
			stream_put(&r->stream, tsc, word);
	}
	atomic_store_explicit(&r->shared->tail, r->tail, memory_order_release);
}

/* Is the last of n records half of an event? Its other half, which follows at once, must be in the same chunk. */
static bool ends_in_wide(struct ring_map *r, uint64_t n)
{
	struct ring_record *last = &ring_records(r->shared)[(r->tail + n - 1) & (r->nrecords - 1)];

	return n && marker_op(__atomic_load_n(&last->word, __ATOMIC_RELAXED)) == OP_WIDE;
}

/* Takes what was in the ring when we looked. Returns the number, or UINT64_MAX: damaged. */
static uint64_t drain_ring(struct rings *rs, struct ring_map *r)
{
	uint64_t n = rings_head(r) - r->tail;

	if (n > r->nrecords)
		return UINT64_MAX;
	n -= ends_in_wide(r, n);
	for (uint64_t left = n; left;) {
		uint32_t batch = left < BATCH ? left : BATCH, room = stream_room(&r->stream);

		if (batch > room)
			batch = room;
		batch -= ends_in_wide(r, batch); /* any chunk may become the first that is kept */
		if (batch)
			take_records(rs, r, batch);
		else
			stream_flush(&r->stream);
		left -= batch;
	}
	return n;
}

/* Releases a drained ring. Its thread can no longer report what it dropped last, so this does. */
static void end_ring(struct ring_map **at)
{
	struct ring_map *r = *at;
	uint64_t lost = atomic_load_explicit(&r->shared->lost, memory_order_relaxed);

	if (lost)
		stream_lost(&r->stream, r->stream.clock, lost);
	stream_flush(&r->stream);
	munmap(r->shared, ring_size(r->nrecords));
	*at = r->next;
	free(r);
}

unsigned int rings_drain(struct rings *rs)
{
	struct ring_map **at = &rs->first, *r;
	uint64_t fullest = 0;

	while ((r = *at)) {
		/* Before the head: a producer sets it after its last record. */
		uint32_t finished = atomic_load_explicit(&r->shared->finished, memory_order_acquire);
		uint64_t n = drain_ring(rs, r);

		if (n == UINT64_MAX) {
			atomic_store_explicit(&r->shared->closed, 1, memory_order_release);
			rs->damaged++;
			finished = 1;
			n = 0;
		}
		if (n * 100 / r->nrecords > fullest)
			fullest = n * 100 / r->nrecords;
		if (finished)
			end_ring(at);
		else
			at = &r->next;
	}
	return (unsigned int)fullest;
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
	uint64_t clock = r->stream.clock;
	char comm[PROCFS_COMM];

	procfs_comm(r->stream.pid, r->stream.tid, comm);
	stream_open(&r->stream, rs->out, r->stream.pid, r->stream.tid, comm);
	/* At or after tail it comes by itself. */
	if (hello && clock && last >> 20 < r->tail)
		stream_put(&r->stream, clock, marker_hello(0, last & 0xfffff));
	r->stream.markers = 0; /* not the program's: a file with nothing else is empty, and stays the newest */
}

void rings_reopen(struct rings *rs, bool hello)
{
	rs->out->streams = 0;
	for (struct ring_map *r = rs->first; r; r = r->next)
		reopen(rs, r, hello);
}

void rings_end_process(struct rings *rs, uint32_t pid)
{
	rings_drain(rs);
	rings_drop(rs, pid);
}

void rings_let_go(struct rings *rs, struct ring_map *r)
{
	struct ring_map **at = &rs->first;

	while (*at != r)
		at = &(*at)->next;
	end_ring(at);
}

void rings_drop(struct rings *rs, uint32_t pid)
{
	struct ring_map **at = &rs->first;

	while (*at) {
		if (!pid || (*at)->stream.pid == pid)
			end_ring(at);
		else
			at = &(*at)->next;
	}
}

void rings_close(struct rings *rs)
{
	for (struct ring_map *r = rs->first; r; r = r->next)
		atomic_store_explicit(&r->shared->closed, 1, memory_order_release);
}

void rings_finish(struct rings *rs)
{
	rings_close(rs);
	rings_drain(rs);
	while (rs->first)
		end_ring(&rs->first);
}
