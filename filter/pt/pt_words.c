// SPDX-License-Identifier: MIT
/*
 * The state of the walk is in registers here. What a packet's size depends on is read first; its time, which nothing
 * waits for, is computed meanwhile.
 */
#include "pt_words.h"

#define WORD_SIZE_MAX 12u	   /* of a PTW and the CYC before it */
#define DOUBLES_COUNT (1ull << 53) /* up to here, one by one */

#define INLINE static inline __attribute__((always_inline))

INLINE bool is_ptw(const uint8_t *p)
{
	uint16_t head;

	memcpy(&head, p, sizeof(head));
	return (head & ~0x2000) == 0x1202; /* 02 32, or with 4 bytes 02 12 */
}

/* What is before a PTW, in bytes: none, or a CYC in one byte. -1: something else. */
static int other_size(const uint8_t *p)
{
	if (is_ptw(p))
		return 0;
	return (*p & 7) == 3 && is_ptw(p + 1) ? 1 : -1;
}

/* A CYC of two bytes, as nearly all are, is seen with its PTW, of 8 bytes or of 4, at once. */
INLINE uint32_t read_bytes(const uint8_t *p)
{
	uint32_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}
INLINE uint64_t read_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}
INLINE bool is_usual(uint32_t bytes)
{
	return (bytes & 0xffff0107) == 0x32020007;
}
INLINE bool is_usual_short(uint32_t bytes)
{
	return (bytes & 0xffff0107) == 0x12020007;
}
INLINE uint64_t usual_cycles(uint32_t bytes)
{
	return (bytes >> 3 & 0x1f) | (bytes >> 4 & 0xfe0);
}

/*
 * The clock, as pt_time_at() computes it: `since` until a CYC has come. `one`: a cycle is a tick, and doubles count
 * these one by one, so that integers have the same sums.
 */
struct line {
	double base, ratio;
	uint64_t from, since;
	bool one;
};

INLINE uint64_t time_at(const struct line *l, bool one, uint64_t cycles)
{
	int64_t time = one ? (int64_t)(l->from + cycles) : (int64_t)(l->base + (int64_t)cycles * l->ratio);

	return time > (int64_t)l->since ? time : (int64_t)l->since;
}

static struct line line_of(const struct pt_time *t, uint64_t most)
{
	double ratio = pt_time_ratio(t);
	uint64_t base = ratio > 0 ? t->base : 0;

	return (struct line){ (int64_t)base, ratio > 0 ? ratio : 0, base, t->now,
			      ratio == 1 && base < DOUBLES_COUNT && most < DOUBLES_COUNT - base };
}

struct state {
	const uint8_t *p;
	uint64_t cycles, now; /* since the clock's base; the time */
	uint32_t n;	      /* words */
};

/* Words for which there is certainly room, and which are certainly in the chunk. */
static uint32_t words_ahead(const struct pt_walk *w, const struct state *s)
{
	const uint8_t *last = w->end - 2 * PACKET_SIZE_MAX;
	uint64_t ahead = s->p <= last ? (uint64_t)(last - s->p) / WORD_SIZE_MAX + 1 : 0;

	return ahead < WORDS_MAX - s->n ? s->n + (uint32_t)ahead : WORDS_MAX;
}

INLINE struct state take_all(const struct pt_walk *w, struct state s, uint64_t most, struct line line, bool one)
{
	const struct tsc_factor factor = tsc_factor(&w->time.clocks->conv);
	const uint64_t thread = w->thread + w->core - s.cycles;
	const uint32_t end = words_ahead(w, &s);
	struct words *to = w->words;

	for (; s.n < end; s.n++) {
		uint32_t bytes = read_bytes(s.p);
		uint64_t cycles = usual_cycles(bytes);
		int64_t size = 2;
		bool is_short = is_usual_short(bytes);

		if (!is_short && !is_usual(bytes)) {
			size = other_size(s.p);
			if (size < 0)
				break;
			cycles = *s.p >> 3;
			is_short = s.p[size + 1] == 0x12;
		}
		if (size) {
			if (cycles > most - s.cycles)
				break;
			s.cycles += cycles;
			s.now = time_at(&line, one, s.cycles);
		}
		to->bits[s.n] = is_short ? read_bytes(s.p + size + 2) : read_word(s.p + size + 2);
		to->ns[s.n] = tsc_factor_ns(&factor, s.now);
		to->cycles[s.n] = thread + s.cycles;
		s.p += size + (is_short ? 6 : 10);
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
	struct line line;

	if (most <= s.cycles || w->end - w->p < 2 * PACKET_SIZE_MAX)
		return false;
	line = line_of(&w->time, most);
	s = line.one ? take_all(w, s, most, line, true) : take_all(w, s, most, line, false);
	if (s.n == w->words->n)
		return false;
	settle(w, &s);
	return true;
}
