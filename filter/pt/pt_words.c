// SPDX-License-Identifier: MIT
/*
 * The state of the walk is in registers here. What a packet's size depends on is read first; its time, which nothing
 * waits for, is computed meanwhile.
 */
#include "pt_words.h"

#define WORD_SIZE_MAX 12u	   /* of a PTW and the CYC before it, */
#define CYC_BITS      12	   /* which has so many, or fewer */
#define DOUBLES_COUNT (1ull << 53) /* up to here, one by one */

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t read_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* A PTW and the CYC before it: the word, the cycles, the bytes of the CYC and of both. size 0: it is something else. */
struct pair {
	uint64_t word, cycles;
	uint32_t cyc, size;
};

#define PTW	 0x1202u /* 02 12, or with 8 bytes 02 32 */
#define PTW_LONG 0x2000u
#define PTW_MASK (0xffffu & ~PTW_LONG)

INLINE struct pair pair_of(const uint8_t *p, uint32_t cyc, uint64_t cycles, bool is_long)
{
	uint64_t word = read_word(p + cyc + 2);

	return (struct pair){ is_long ? word : (uint32_t)word, cycles, cyc, cyc + (is_long ? 10 : 6) };
}

/* What is before the PTW is none, or one byte. */
INLINE struct pair read_rare_pair(const uint8_t *p, uint64_t row)
{
	if ((row & (PTW_MASK << 8 | 7)) == (PTW << 8 | 3))
		return pair_of(p, 1, row >> 3 & 0x1f, row >> 8 & PTW_LONG);
	if ((row & PTW_MASK) == PTW)
		return pair_of(p, 0, 0, row & PTW_LONG);
	return (struct pair){ 0 };
}

/* A CYC of two bytes and a PTW of four, as of nearly every event. */
#define ROW_BYTES	8
#define ROW_MASK	0xffff0107u
#define ROW		(PTW << 16 | 7)
#define ROW_CYCLES(row) (((row) >> 3 & 0x1f) | ((row) >> 4 & 0xfe0))

/* A CYC of two bytes, as nearly all are, is seen with its PTW, of 4 bytes or of 8, at once. */
INLINE struct pair read_pair(const uint8_t *p)
{
	uint64_t row = read_word(p);
	uint64_t cycles = ROW_CYCLES(row);

	if ((row & ROW_MASK) == ROW)
		return (struct pair){ row >> 32, cycles, 2, ROW_BYTES };
	if ((row & ROW_MASK) == (ROW | PTW_LONG << 16))
		return (struct pair){ read_word(p + 4), cycles, 2, 12 };
	return read_rare_pair(p, row);
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

INLINE uint64_t time_at(const struct line *l, uint64_t cycles)
{
	int64_t time = (int64_t)(l->base + (int64_t)cycles * l->ratio);

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

/*
 * Nanoseconds of a clock of which a cycle is a tick: those at a beginning, and what came since, in 2^-32 ns. That is
 * exact: what a tick is has at most 32 fractional bits (tsc.h).
 */
struct ticker {
	uint64_t ns, part, tick;
};
#define TICK_MOST 4 /* ns; so the cycles of a room do not overflow: */
_Static_assert((uint64_t)WORDS_MAX << CYC_BITS < (1u << 31) / TICK_MOST, "2^-32 ns of them fit into 64 bits");

static bool is_ticker(const struct tsc_conv *conv)
{
	return conv->shift <= 32 && (uint64_t)conv->mult >> conv->shift < TICK_MOST;
}

static struct ticker ticker_at(const struct tsc_conv *conv, uint64_t ticks)
{
	__uint128_t ns = (__uint128_t)ticks * conv->mult << (32 - conv->shift);

	return (struct ticker){ conv->zero + (uint64_t)(ns >> 32), (uint32_t)ns,
				(uint64_t)conv->mult << (32 - conv->shift) };
}

INLINE uint64_t ticker_ns(const struct ticker *t, uint64_t passed)
{
	return t->ns + ((t->part + passed * t->tick) >> 32);
}

/* Up to so many words no more than these cycles pass, whatever their CYCs are. */
static uint32_t words_within(const struct state *s, uint64_t cycles, uint32_t end)
{
	uint64_t words = cycles >> CYC_BITS;

	return words < end - s->n ? s->n + (uint32_t)words : end;
}

/* A cycle is a tick, and the time is the sum of them. The last few words before `most` are left to take_cycles(). */
static struct state take_ticks(const struct pt_walk *w, struct state s, uint64_t most, const struct line *line)
{
	const struct ticker t = ticker_at(&w->time.clocks->conv, line->from + s.cycles);
	const uint64_t thread = w->ticks ? line->from + s.cycles : w->thread + w->core;
	const uint32_t end = words_within(&s, most - s.cycles, words_ahead(w, &s));
	struct words *to = w->words;
	uint64_t passed = 0;

	for (; s.n < end; s.n++) {
		struct pair pair = read_pair(s.p);

		if (!pair.size)
			break;
		passed += pair.cycles;
		to->bits[s.n] = pair.word;
		to->ns[s.n] = ticker_ns(&t, passed);
		to->cycles[s.n] = thread + passed;
		s.p += pair.size;
	}
	s.cycles += passed;
	s.now = line->from + s.cycles;
	return s;
}

/* With any clock. */
static struct state take_cycles(const struct pt_walk *w, struct state s, uint64_t most, const struct line *line)
{
	const struct tsc_factor factor = tsc_factor(&w->time.clocks->conv);
	const uint64_t thread = w->thread + w->core - s.cycles;
	const uint32_t end = words_ahead(w, &s);
	struct words *to = w->words;

	for (; s.n < end; s.n++) {
		struct pair pair = read_pair(s.p);

		if (!pair.size || pair.cycles > most - s.cycles)
			break;
		s.cycles += pair.cycles;
		s.now = pair.cyc ? time_at(line, s.cycles) : s.now;
		to->bits[s.n] = pair.word;
		to->ns[s.n] = tsc_factor_ns(&factor, s.now);
		to->cycles[s.n] = w->ticks ? s.now : thread + s.cycles;
		s.p += pair.size;
	}
	return s;
}

/* --- only some of them ---------------------------------------------------------------------------------------- */

/* Eight rows at a time, which need not wait for each other. */
#define ROWS_AT_ONCE 8
typedef uint64_t two_rows __attribute__((vector_size(2 * ROW_BYTES)));

/* How they differ from rows, and their cycles added to *cycles. */
INLINE two_rows read_two(const uint8_t *p, two_rows *cycles)
{
	two_rows rows;

	memcpy(&rows, p, sizeof(rows));
	*cycles += ROW_CYCLES(rows);
	return (rows & (uint64_t)ROW_MASK) ^ (uint64_t)ROW;
}

/* Are they eight rows? */
INLINE bool read_eight(const uint8_t *p, two_rows *cycles)
{
	two_rows differ = read_two(p, cycles) | read_two(p + 16, cycles) | read_two(p + 32, cycles) |
			  read_two(p + 48, cycles);

	return !(differ[0] | differ[1]);
}

/* Of at most n rows: how many there are, and their cycles. */
INLINE uint64_t skip_rows(const uint8_t *p, uint64_t n, uint64_t *cycles)
{
	two_rows sum = { 0 }, sums = { 0 };
	uint64_t rows = 0;

	for (; rows + ROWS_AT_ONCE <= n && read_eight(p + rows * ROW_BYTES, &sum); rows += ROWS_AT_ONCE)
		sums = sum;
	*cycles = sums[0] + sums[1];
	for (; rows < n; rows++) {
		struct pair pair = read_pair(p + rows * ROW_BYTES);

		if (pair.cyc != 2 || pair.size != ROW_BYTES)
			break;
		*cycles += pair.cycles;
	}
	return rows;
}

INLINE void put(const struct pt_walk *w, struct state *s, uint64_t bits, const struct line *line)
{
	w->words->bits[s->n] = bits;
	w->words->cycles[s->n++] = line->from + s->cycles;
}

/* Skips the rows behind an event's word, and tells the last of them. */
INLINE void skip(const struct pt_walk *w, struct state *s, const uint8_t *last, uint64_t most, const struct line *line)
{
	uint64_t ahead = s->p <= last ? (uint64_t)(last - s->p) / ROW_BYTES : 0;
	uint64_t within = (most - s->cycles) >> CYC_BITS, cycles;
	uint64_t rows = skip_rows(s->p, ahead < within ? ahead : within, &cycles);

	if (!rows)
		return;
	s->p += rows * ROW_BYTES;
	s->cycles += cycles;
	put(w, s, WORDS_PASSED | read_word(s->p - ROW_BYTES) >> 32, line);
}

/* Like take_ticks(), but tells only the first and the last of many rows. */
static struct state skim(const struct pt_walk *w, struct state s, uint64_t most, const struct line *line)
{
	const uint8_t *last = w->end - 2 * PACKET_SIZE_MAX;

	while (s.n + 2 <= WORDS_MAX && s.p <= last && (most - s.cycles) >> CYC_BITS) {
		struct pair pair = read_pair(s.p);

		if (!pair.size)
			break;
		s.cycles += pair.cycles;
		s.p += pair.size;
		put(w, &s, pair.word, line);
		if (!(pair.word >> 32))
			skip(w, &s, last, most, line);
	}
	s.now = line->from + s.cycles;
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
	if (line.one && line.from + s.cycles >= line.since && is_ticker(&w->time.clocks->conv))
		s = w->skims ? skim(w, s, most, &line) : take_ticks(w, s, most, &line);
	if (s.n == w->words->n)
		s = take_cycles(w, s, most, &line);
	if (s.n == w->words->n)
		return false;
	settle(w, &s);
	return true;
}
