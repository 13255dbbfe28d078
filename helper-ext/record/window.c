/* SPDX-License-Identifier: MIT */
/* window.c - see window.h. Each field of shared memory is read once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "window.h"

/* Records between two checks of the clock, some 10 us; bytes for one write(2): the kernel takes up to 4 us a page. */
#define BATCH 512u
#define PIECE (32u << 10)

static struct ring_record *record_at(const struct ring_map *r, uint64_t position)
{
	return &ring_records(r->shared)[position & (r->nrecords - 1)];
}

static uint64_t tsc_at(const struct ring_map *r, uint64_t position)
{
	return __atomic_load_n(&record_at(r, position)->tsc, __ATOMIC_RELAXED);
}

/*
 * The first position of [from, end) whose time is at or after tsc. Records at the old end may be overwritten meanwhile
 * by newer ones: that leads too far back, never too far ahead.
 */
static uint64_t find(const struct ring_map *r, uint64_t from, uint64_t end, uint64_t tsc)
{
	while (from < end) {
		uint64_t middle = from + (end - from) / 2;

		if (tsc_at(r, middle) < tsc)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/* Where the clock is coarse: the first of the records that have a time for sure whose time is at or after tsc. */
static uint64_t find_timed(const struct ring_map *r, uint64_t from, uint64_t end, uint64_t tsc)
{
	uint64_t low = (from + RING_COARSE - 1) / RING_COARSE, high = (end + RING_COARSE - 1) / RING_COARSE;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (tsc_at(r, middle * RING_COARSE) < tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low * RING_COARSE;
}

/*
 * So far before a position that there are two times, if that is not before `oldest`: what lies between them tells the
 * pace of the records.
 */
static uint64_t step_back(uint64_t position, uint64_t oldest)
{
	uint64_t timed = position - position % RING_COARSE;

	if (timed >= oldest + RING_COARSE)
		return timed - RING_COARSE;
	return timed >= oldest ? timed : oldest;
}

static void copy(struct window *w, const struct ring_map *r, uint64_t end)
{
	for (uint64_t at = w->from; at < end;) {
		uint32_t index = at & (r->nrecords - 1);
		uint64_t run = r->nrecords - index < end - at ? r->nrecords - index : end - at;

		memcpy(&w->records[at - w->from], record_at(r, at), run * sizeof(*w->records));
		at += run;
	}
	w->n = end - w->from;
}

static void drop_first(struct window *w, uint64_t n)
{
	n = n < w->n ? n : w->n;
	memmove(w->records, w->records + n, (w->n - n) * sizeof(*w->records));
	w->from += n;
	w->n -= n;
}

/* Times for those that have none; then only those from position `start` on, of from_tsc to until_tsc, are left. */
static void give_times(struct window *w, uint64_t start, uint64_t from_tsc, uint64_t until_tsc)
{
	struct spread s = { 0 };
	uint64_t first = start > w->from ? start - w->from : 0;

	spread_between(&s, w->records, UINT32_MAX, w->n);
	spread_rest(&s, w->records, UINT32_MAX, w->n, s.pace, UINT64_MAX);
	while (first < w->n && w->records[first].tsc < from_tsc)
		first++;
	while (w->n > first && w->records[w->n - 1].tsc > until_tsc)
		w->n--;
	drop_first(w, first);
}

/* The oldest position that was not being overwritten when head was read. */
static uint64_t oldest(const struct ring_map *r, uint64_t head)
{
	uint64_t written = head + RING_UNPUBLISHED;

	return written < r->nrecords ? 0 : written - r->nrecords;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Which records to copy: from w->from to *end. With a coarse clock some more at both ends: what they are is known when
 * all have times.
 */
static void find_window(struct window *w, const struct ring_map *r, uint64_t head, uint64_t start, uint64_t from_tsc,
			uint64_t until_tsc, uint64_t *end)
{
	uint64_t timed;

	*end = head;
	if (!r->coarse) {
		w->from = find(r, start, head, from_tsc);
		if (until_tsc != UINT64_MAX)
			*end = find(r, w->from, head, until_tsc + 1);
		return;
	}
	timed = find_timed(r, start, head, from_tsc);
	w->from = step_back(timed > start + RING_COARSE ? timed - RING_COARSE : start, oldest(r, head));
	if (until_tsc == UINT64_MAX)
		return;
	timed = find_timed(r, start, head, until_tsc + 1);
	*end = timed < head ? timed + 1 : head;
}

int window_copy(struct window *w, struct ring_map *r, uint64_t from_tsc, uint64_t until_tsc)
{
	uint64_t head, start, end, safe;

	*w = (struct window){
		.tid = atomic_load_explicit(&r->shared->tid, memory_order_relaxed),
		.hello = atomic_load_explicit(&r->shared->hello, memory_order_relaxed),
	};
	head = rings_head(r);
	if (head < r->tail)
		return -EINVAL;
	start = max(oldest(r, head), r->tail);
	find_window(w, r, head, start, from_tsc, until_tsc, &end);
	w->records = malloc((end - w->from + 1) * sizeof(*w->records));
	if (!w->records)
		return -ENOMEM;
	copy(w, r, end);
	atomic_thread_fence(memory_order_acquire);
	safe = oldest(r, rings_head(r));
	if (safe > w->from) {
		start = max(start, safe);
		drop_first(w, safe - w->from);
	}
	if (r->coarse)
		give_times(w, start, from_tsc, until_tsc);
	w->cut = w->from == start && start > r->tail;
	r->tail = w->from + w->n;
	return 0;
}

/* Writing a window: its current thread, and what the next words need before them. */
struct writer {
	struct rings *rs;
	struct stream *stream;
	struct timeslice *timeslice;
	const struct histories *histories;
	const struct history *history; /* of this thread; NULL: not known */
	size_t nswitches;	       /* of these, so many are over */
	uint32_t number;
	int64_t interpreter; /* -1: not known, words are left out until a HELLO */
	bool open;
};

static void put(struct stream *s, uint64_t tsc, uint64_t word)
{
	if (!stream_room(s))
		stream_flush(s);
	stream_put(s, tsc, word);
}

/* The next switch; NULL: there is none, or it is not known. */
static const struct switched *next_switch(const struct writer *w)
{
	return w->history && w->nswitches < w->history->n ? &w->history->list[w->nswitches] : NULL;
}

/* The thread runs where it writes. Before the oldest switch of a history that is not whole, nothing is known. */
static void begin_switches(struct writer *w, uint64_t tsc)
{
	const struct switched *s;
	uint16_t cpu = MARKER_CPU_UNKNOWN;

	w->history = histories_find(w->histories, w->stream->pid, w->stream->tid);
	w->nswitches = 0;
	while ((s = next_switch(w)) && rings_tsc(w->rs, s) <= tsc) {
		cpu = s->cpu;
		w->nswitches++;
	}
	if (w->nswitches || (w->history && w->history->whole))
		stream_cpu(w->stream, tsc, marker_cpu(true, false, false, cpu));
}

/* Those before tsc. runs: the thread writes a word then, so it is not out, whatever two clocks say. */
static void write_switches(struct writer *w, uint64_t tsc, bool runs)
{
	const struct switched *s;

	while ((s = next_switch(w))) {
		uint64_t at = rings_tsc(w->rs, s);
		bool out = w->stream->cpu && !(w->stream->cpu & MARKER_CPU_IN);

		if (at >= tsc && !(runs && out && s->in))
			break;
		stream_cpu(w->stream, at, marker_cpu(s->in, s->preempted, s->lost, s->cpu));
		w->nswitches++;
	}
}

static void segment_begin(struct writer *w, uint64_t tsc)
{
	put(w->stream, tsc, marker_snapshot(0, w->number, false));
	put(w->stream, tsc, marker_hello(0, (uint32_t)w->interpreter));
	begin_switches(w, tsc);
	w->open = true;
}

static void segment_end(struct writer *w, uint64_t tsc)
{
	if (w->open) {
		write_switches(w, tsc, false);
		put(w->stream, tsc, marker_snapshot(0, w->number, true));
	}
	stream_flush(w->stream);
	w->stream->cpu = 0;
	w->open = false;
}

/* before: switches before that time come before it. */
static void write_word(struct writer *w, uint64_t tsc, uint64_t word, uint64_t before)
{
	if (marker_is_hello(word))
		w->interpreter = marker_offset(word);
	if (w->interpreter < 0)
		return;
	if (!w->open)
		segment_begin(w, tsc);
	write_switches(w, before, true);
	if (marker_op(word) == OP_LOST)
		stream_lost(w->stream, tsc, marker_lost_count(word));
	else
		put(w->stream, tsc, word);
}

/* A nap, if it is time for one. */
static void rest(struct writer *w)
{
	if (w->stream->used > PIECE)
		stream_flush(w->stream);
	timeslice_check(w->timeslice);
}

/* The thread of the oldest record: the newest's, unless a hand-over names the previous one. */
static uint32_t first_tid(const struct window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (marker_op(w->records[i].word) == OP_RING_THREAD)
			return w->records[i].word >> 32 & 0x3fffff;
	return w->tid;
}

/* The records before tsc, without separating a word from its prefix. */
static uint32_t count_older(const struct window *w, uint64_t tsc)
{
	uint32_t n = 0;

	while (n < w->n && w->records[n].tsc < tsc)
		n++;
	if (n && marker_op(w->records[n - 1].word) == OP_WIDE)
		n--;
	return n;
}

int window_split(struct window *w, struct window *older, uint64_t tsc)
{
	uint32_t n = count_older(w, tsc);

	*older = *w;
	older->n = n;
	older->records = malloc((n + 1) * sizeof(*older->records));
	if (!older->records)
		return -ENOMEM;
	memcpy(older->records, w->records, n * sizeof(*w->records));
	drop_first(w, n);
	older->tid = first_tid(w);
	w->follows = n != 0;
	w->cut = w->cut && !n;
	return 0;
}

/* The first word may lack its WIDE prefix, and is one if that itself is the first. */
static uint32_t torn(const struct window *w)
{
	if (w->follows || !w->from || !w->n || marker_op(w->records[0].word) == OP_HELLO)
		return 0;
	return marker_op(w->records[0].word) == OP_WIDE ? 2 : 1;
}

/* Nothing comes between a word and its prefix. */
static uint64_t time_of(const struct window *w, uint32_t i)
{
	bool prefix = marker_op(w->records[i].word) == OP_WIDE && i + 1 < w->n;

	return w->records[i + prefix].tsc;
}

void window_write(const struct window *w, struct rings *rs, struct ring_map *r, const struct histories *histories,
		  uint32_t number, uint64_t until_tsc, struct timeslice *timeslice)
{
	struct writer writer = {
		.rs = rs,
		.stream = &r->stream,
		.histories = histories,
		.timeslice = timeslice,
		.number = number,
	};
	uint64_t tsc = 0;

	if (!w->n)
		return;
	/* The last HELLO's interpreter, if the window begins there: not if the HELLO is inside it. */
	writer.interpreter = w->hello >> 20 < w->from ? (int64_t)(w->hello & 0xfffff) : -1;
	rings_thread(rs, r, first_tid(w));
	for (uint32_t i = torn(w); i < w->n; i++) {
		const struct ring_record *rec = &w->records[i];

		if (i % BATCH == 0)
			rest(&writer);
		if (marker_op(rec->word) == OP_RING_THREAD) {
			segment_end(&writer, tsc);
			rings_thread(rs, r, (uint32_t)rec->word);
			writer.interpreter = -1;
			continue;
		}
		tsc = rec->tsc;
		write_word(&writer, tsc, rec->word, time_of(w, i));
	}
	segment_end(&writer, until_tsc == UINT64_MAX ? tsc : max(tsc, until_tsc));
}

uint64_t window_first_tsc(const struct window *w)
{
	uint32_t i = torn(w);

	while (i < w->n && marker_op(w->records[i].word) == OP_RING_THREAD)
		i++;
	return i < w->n ? w->records[i].tsc : UINT64_MAX;
}

void window_prepare(struct ring_map *r)
{
#ifdef MADV_POPULATE_READ /* Linux 5.14; an older kernel refuses, and the first copy takes longer */
	uint64_t head = rings_head(r), written = head < r->nrecords ? head : r->nrecords;

	madvise(r->shared, ring_size(written), MADV_POPULATE_READ);
#endif
	r->prepared = true;
}

void window_free(struct window *w)
{
	free(w->records);
	*w = (struct window){ 0 };
}

/* Of the newest records so many as have two times, if there are so many. */
static uint64_t last_of_run(const struct ring_map *r, uint64_t head)
{
	struct ring_record records[2 * RING_COARSE];
	uint32_t n = head < 2 * RING_COARSE ? (uint32_t)head : 2 * RING_COARSE;
	struct window w = { .records = records, .from = head - n };

	copy(&w, r, head);
	give_times(&w, 0, 0, UINT64_MAX);
	return records[n - 1].tsc;
}

uint64_t window_last_tsc(const struct ring_map *r)
{
	uint64_t head = rings_head(r);

	if (head <= r->tail)
		return 0;
	return r->coarse ? last_of_run(r, head) : tsc_at(r, head - 1);
}
