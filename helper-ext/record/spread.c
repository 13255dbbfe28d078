/* SPDX-License-Identifier: MIT */
/* spread.c - see spread.h. Each field of shared memory is read once. */
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

/* Those before `end` were written before `until`. Returns the step from one to the next. */
static uint64_t give_evenly(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t end, uint64_t until)
{
	uint64_t step;

	if (s->time == RING_NO_TIME)
		s->time = until;
	step = until > s->time ? (until - s->time) / (end - s->next + 1) : 0;
	give(s, records, mask, end, step, UINT64_MAX);
	return step;
}

/*
 * The run before `end`, which has time `until` or is the head (UINT64_MAX), as far as it was in the ring at the last
 * look, if there is more behind it. A thread that waited tells the time from before that look.
 */
static void give_seen(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t end, uint64_t until)
{
	bool followed = s->head < end || (s->head == end && until != UINT64_MAX);

	if (s->next >= s->head || !followed || s->seen >= until)
		return;
	give_evenly(s, records, mask, s->head, s->seen);
	s->time = s->seen > s->time ? s->seen : s->time;
}

void spread_between(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head)
{
	while (s->next < head) {
		uint64_t end = find_time(s, records, mask, head);
		uint64_t until = end < head ? time_of(&records[end & mask]) : UINT64_MAX;

		give_seen(s, records, mask, end, until);
		if (end == head)
			break;
		if (s->next < end)
			s->pace = give_evenly(s, records, mask, end, until);
		s->time = until;
		s->next = end + 1;
	}
}

void spread_look(struct spread *s, uint64_t head, uint64_t now)
{
	if (s->next == head || s->head == head)
		return;
	s->head = head;
	s->seen = now;
}

void spread_rest(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head, uint64_t pace,
		 uint64_t latest)
{
	if (s->time == RING_NO_TIME)
		s->time = latest;
	give(s, records, mask, head, pace, latest);
}
