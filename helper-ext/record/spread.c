/* SPDX-License-Identifier: MIT */
/* spread.c - see spread.h. Each field of shared memory is read once. */
#include <stdbool.h>

#include "spread.h"

static uint64_t time_of(const struct ring_record *r)
{
	return __atomic_load_n(&r->tsc, __ATOMIC_RELAXED);
}

/* The next record that has a time, or head. */
static uint64_t find_time(const struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head)
{
	uint64_t at = s->next;

	while (at < head && time_of(&records[at & mask]) == RING_NO_TIME)
		at++;
	return at;
}

static void give(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t end, uint64_t step,
		 uint64_t latest)
{
	for (; s->next < end; s->next++) {
		s->time = s->time + step <= latest ? s->time + step : s->time;
		__atomic_store_n(&records[s->next & mask].tsc, s->time, __ATOMIC_RELAXED);
	}
}

/* Those before `end` were written before `until`. Returns the step from one to the next, `most` at the most. */
static uint64_t give_evenly(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t end, uint64_t until,
			    uint64_t most)
{
	uint64_t step;

	if (s->time == RING_NO_TIME)
		s->time = until;
	step = until > s->time ? (until - s->time) / (end - s->next + 1) : 0;
	step = step < most ? step : most;
	give(s, records, mask, end, step, UINT64_MAX);
	return step;
}

/*
 * The run before `end`, which has time `until` or is the head (UINT64_MAX), as far as it was in the ring at the last
 * look, if there is more behind it. A thread that waited tells the time from before that look. If nothing came from one
 * look to another one, this is where the time went: all that is before it, or behind it up to a time, came at the usual
 * pace.
 */
static void use_look(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t end, uint64_t until)
{
	bool followed = s->head < end || (s->head == end && until != UINT64_MAX), rested = s->left > s->seen;
	uint64_t after, usual;

	if (s->next > s->head || !followed || s->seen >= until)
		return;
	if (s->next < s->head)
		give_evenly(s, records, mask, s->head, s->seen, rested ? s->pace : UINT64_MAX);
	after = s->left < until ? s->left : until;
	usual = (end - s->next + 1) * s->pace;
	if (rested && until != UINT64_MAX && until - after > usual)
		after = until - usual;
	s->time = after > s->time ? after : s->time;
}

void spread_between(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head)
{
	while (s->next < head) {
		uint64_t end = find_time(s, records, mask, head), time = s->time, step;
		uint64_t until = end < head ? time_of(&records[end & mask]) : UINT64_MAX;
		bool whole; /* nothing is known of its inside */

		use_look(s, records, mask, end, until);
		if (end == head)
			break;
		whole = s->next < end && s->time == time;
		step = give_evenly(s, records, mask, end, until, UINT64_MAX);
		if (whole)
			s->pace = step;
		s->time = until;
		s->next = end + 1;
	}
}

void spread_look(struct spread *s, uint64_t head, uint64_t before, uint64_t after)
{
	if (s->head != head || !s->seen)
		s->seen = after;
	s->head = head;
	s->left = before;
}

void spread_rest(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head, uint64_t pace,
		 uint64_t latest)
{
	if (s->time == RING_NO_TIME)
		s->time = latest;
	give(s, records, mask, head, pace, latest);
}
