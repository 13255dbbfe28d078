// SPDX-License-Identifier: MIT
/*
 * The state of the walk is in registers here. What a packet's size depends on is read first; its time, which nothing
 * waits for, is computed meanwhile.
 */
#include "pt_words.h"

#define INLINE static inline __attribute__((always_inline))

/* A CYC of some cycles, one or two bytes long, before a PTW. size 0: there is none; -1: something else. */
struct cyc {
	int64_t size;
	uint64_t cycles;
};

static const struct cyc something_else = { -1, 0 };

INLINE bool is_ptw(const uint8_t *p)
{
	uint16_t head;

	memcpy(&head, p, sizeof(head));
	return head == 0x3202; /* 02 32 */
}

/* None, or one of one byte. */
static struct cyc read_other(const uint8_t *p)
{
	if (is_ptw(p))
		return (struct cyc){ 0, 0 };
	return (*p & 7) == 3 && *p >> 3 && is_ptw(p + 1) ? (struct cyc){ 1, *p >> 3 } : something_else;
}

/* One of two bytes, as nearly all are, is seen with its PTW at once. */
INLINE struct cyc read_cyc(const uint8_t *p)
{
	uint32_t bytes;
	uint64_t cycles;

	memcpy(&bytes, p, sizeof(bytes));
	cycles = (bytes >> 3 & 0x1f) | (bytes >> 9 & 0x7f) << 5;
	if ((bytes & 0xffff0107) != 0x32020007)
		return read_other(p);
	return cycles ? (struct cyc){ 2, cycles } : something_else;
}

/* The clock, as pt_time_at() computes it: `since` until a CYC has come. */
struct line {
	double base, ratio;
	uint64_t since;
};

INLINE uint64_t time_at(const struct line *l, uint64_t cycles)
{
	int64_t time = (int64_t)(l->base + (int64_t)cycles * l->ratio);

	return time > (int64_t)l->since ? time : (int64_t)l->since;
}

static struct line line_of(const struct pt_time *t)
{
	double ratio = pt_time_ratio(t);

	return (struct line){ ratio > 0 ? (double)(int64_t)t->base : 0, ratio > 0 ? ratio : 0, t->now };
}

struct state {
	const uint8_t *p;
	uint64_t cycles, now; /* since the clock's base; the time */
	uint32_t n;	      /* words */
};

INLINE struct state take_all(const struct pt_walk *w, struct state s, uint64_t most)
{
	const struct line line = line_of(&w->time);
	const struct tsc_conv conv = w->time.clocks->conv;
	const uint8_t *last = w->end - 2 * PACKET_SIZE_MAX;
	uint64_t thread = w->thread + w->core - s.cycles;
	struct words *to = w->words;

	for (; s.n < WORDS_MAX && s.p <= last; s.n++) {
		const struct cyc cyc = read_cyc(s.p);

		if (cyc.size < 0 || cyc.cycles > most - s.cycles)
			break;
		if (cyc.size) {
			s.cycles += cyc.cycles;
			s.now = time_at(&line, s.cycles);
		}
		memcpy(&to->bits[s.n], s.p + cyc.size + 2, sizeof(to->bits[s.n]));
		to->ns[s.n] = tsc_ns(&conv, s.now);
		to->cycles[s.n] = thread + s.cycles;
		s.p += cyc.size + 10;
	}
	return s;
}

static void settle(struct pt_walk *w, const struct state *s)
{
	w->core += s->cycles - w->time.cycles;
	w->time.cycles = s->cycles;
	w->stamp = w->time.now = s->now;
	w->passed.stamp = w->stamp;
	w->passed.core = w->core;
	w->p = s->p;
	w->after_cyc = false;
	w->gathered = s->n - w->words->n;
}

bool pt_words(struct pt_walk *w)
{
	uint64_t most = w->stamp > w->time.now ? 0 : pt_time_cycles_before(&w->time, w->quiet_until);
	struct state s = { w->p, w->time.cycles, w->time.now, w->words->n };

	if (most <= s.cycles || w->end - w->p < 2 * PACKET_SIZE_MAX)
		return false;
	s = take_all(w, s, most);
	if (s.n == w->words->n)
		return false;
	settle(w, &s);
	return true;
}
