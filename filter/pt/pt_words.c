// SPDX-License-Identifier: MIT
/*
 * The state of the walk is in registers here. What a packet's size depends on is read first; its time, which nothing
 * waits for, is computed meanwhile.
 */
#include "pt_words.h"

#define INLINE static inline __attribute__((always_inline))

/* A CYC of some cycles, one or two bytes long, before a PTW. Its size; 0: there is none; -1: something else. */
INLINE int read_cyc(const uint8_t *p, uint64_t *cycles)
{
	uint32_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	*cycles = (bytes & 0xff) >> 3;
	if ((bytes & 7) == 7)
		*cycles |= (bytes >> 9 & 0x7f) << 5;
	if ((bytes & 0x107) == 7)
		return *cycles ? 2 : -1;
	if ((bytes & 7) == 3)
		return *cycles ? 1 : -1;
	return (bytes & 0xff) == 0x02 ? 0 : -1;
}

INLINE bool is_ptw(const uint8_t *p)
{
	uint16_t head;

	memcpy(&head, p, sizeof(head));
	return head == 0x3202; /* 02 32 */
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
	uint64_t thread = w->thread + w->core - s.cycles, cycles;
	struct words *to = w->words;

	for (; s.n < WORDS_MAX && s.p <= last; s.n++) {
		int size = read_cyc(s.p, &cycles);

		if (size < 0 || !is_ptw(s.p + size) || cycles > most - s.cycles)
			break;
		if (size) {
			s.cycles += cycles;
			s.now = time_at(&line, s.cycles);
		}
		memcpy(&to->bits[s.n], s.p + size + 2, sizeof(to->bits[s.n]));
		to->ns[s.n] = tsc_ns(&conv, s.now);
		to->cycles[s.n] = thread + s.cycles;
		s.p += size + 10;
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
