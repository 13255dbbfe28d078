// SPDX-License-Identifier: MIT
/* A pair is recognized by its first bytes alone: what merely looks like one comes back as well. */
#include "transpose.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "cyc.h"
#include "numbered.h"
#include "shared/marker.h"
#include "shared/ptput.h"
#include "ticks.h"

enum { RUNS, LITERALS, CYCLES, WORDS, COLUMNS };

/* The numbers at the head of a piece: its size, of each column, and the step of its clock. */
enum { SIZE, COLUMN, STEP = COLUMN + COLUMNS, HEAD };

/* Packets of words (Intel SDM: PTW without FUP). seq_shift: of the sequence number (marker.h). */
static const struct shape {
	uint8_t second; /* byte of the packet; the first is 02 */
	uint8_t size;	/* of the payload */
	uint8_t seq_shift;
} shapes[2] = {
	{ 0x12, 4, MARKER_SHORT_SEQ_SHIFT },
	{ 0x32, 8, MARKER_SEQ_SHIFT },
};

#define PTW_HEAD 2
#define CYC_MOST \
	15 /* bytes of a CYC packet; without it, bytes that never end one would be looked through again and again */

/* What the piece needs at most: of runs, of literals, of cycles and of words, 8 bytes for 7. */
struct transpose {
	struct numbered numbered;
	uint8_t runs[TRANSPOSE_MOST + 16], literals[TRANSPOSE_MOST];
	uint8_t cycles[TRANSPOSE_MOST + PTPUT_CYC_MOST], ticks[TRANSPOSE_MOST];
	uint8_t words[TRANSPOSE_MOST + TRANSPOSE_MOST / 4];
};

struct transpose *transpose_new(void)
{
	return calloc(1, sizeof(struct transpose));
}

void transpose_free(struct transpose *t)
{
	free(t);
}

/* --- taking apart ---------------------------------------------------------------------------------------- */

struct pair {
	const uint8_t *word, *end;
	const struct shape *shape;
	uint64_t bits;		/* what is written of the word, */
	const struct shape *as; /* and of which shape; NULL: the pair is a literal */
};

/* Is there a CYC and a PTW at p? */
static bool is_pair(const uint8_t *p, const uint8_t *end, struct pair *pair)
{
	size_t size = (*p & 3) == 3 ? cyc_size(p, end - p < CYC_MOST ? end : p + CYC_MOST) : 0;

	p += size;
	if (!size || end - p < PTW_HEAD || p[0] != 2)
		return false;
	pair->shape = &shapes[p[1] == shapes[1].second];
	pair->word = p + PTW_HEAD;
	pair->end = pair->word + pair->shape->size;
	return p[1] == pair->shape->second && pair->end <= end;
}

/* Puts the distance in place of the sequence number, and notes that; or the number in place of the distance. */
static uint64_t move_seq(uint64_t word, const struct shape *s, uint32_t *due, bool back)
{
	uint64_t mask = (uint64_t)MARKER_SEQ_MASK << s->seq_shift;
	uint32_t had = word >> s->seq_shift & MARKER_SEQ_MASK;
	uint32_t gets = (back ? had + *due : had - *due) & MARKER_SEQ_MASK;

	*due = (back ? gets : had) + 1;
	return (word & ~mask) | (uint64_t)gets << s->seq_shift;
}

static uint64_t without_seq(uint64_t word)
{
	return word & ~((uint64_t)MARKER_SEQ_MASK << MARKER_SEQ_SHIFT);
}

/*
 * A word of 32 bits is written as the one that it stands for, if the other way leads to its number. A whole word that
 * has a number is one that the recorder would have written short.
 */
static void choose_bits(const struct numbered *n, struct pair *pair)
{
	uint64_t bits = 0, whole;

	memcpy(&bits, pair->word, pair->shape->size);
	pair->bits = bits;
	pair->as = pair->shape;
	if (pair->shape == &shapes[1]) {
		if (numbered_of(n, without_seq(bits)))
			pair->as = NULL;
		return;
	}
	whole = marker_is_short(bits) ? numbered_word(n, marker_number(bits)) : 0;
	if (!whole || numbered_of(n, whole) != marker_number(bits))
		return;
	pair->bits = whole | bits >> MARKER_SHORT_SEQ_SHIFT << MARKER_SEQ_SHIFT;
	pair->as = &shapes[1];
}

static bool is_written(const struct numbered *n, const uint8_t *p, const uint8_t *end, struct pair *pair)
{
	if (!is_pair(p, end, pair))
		return false;
	choose_bits(n, pair);
	return pair->as;
}

static uint8_t *append(uint8_t *to, const uint8_t *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* The pairs of one shape from p on. Returns where they end. */
static const uint8_t *put_pairs(struct numbered *numbered, struct column col[], const uint8_t *p, const uint8_t *end,
				uint32_t *due)
{
	struct pair pair;
	const struct shape *shape = NULL;
	uint32_t n = 0;

	for (; p < end && is_written(numbered, p, end, &pair) && (!shape || shape == pair.as); n++) {
		uint64_t bits = move_seq(pair.bits, pair.as, due, false);

		shape = pair.as;
		col[CYCLES].p = append(col[CYCLES].p, p, pair.word - PTW_HEAD - p);
		col[WORDS].p = append(col[WORDS].p, (const uint8_t *)&bits, shape->size);
		if (pair.shape == &shapes[1])
			numbered_meet(numbered, without_seq(pair.bits));
		p = pair.end;
	}
	col[RUNS].p = varint_put(col[RUNS].p, n << 1 | (shape == &shapes[1]));
	return p;
}

static const uint8_t *put_literals(struct numbered *numbered, struct column col[], const uint8_t *p, const uint8_t *end)
{
	const uint8_t *begin = p;
	struct pair pair = { 0 };

	while (p < end && !is_written(numbered, p, end, &pair))
		p++;
	col[RUNS].p = varint_put(col[RUNS].p, p - begin);
	col[LITERALS].p = append(col[LITERALS].p, begin, p - begin);
	if (p - begin >= TRANSPOSE_CHUNK)
		numbered_begin(numbered);
	return p;
}

static void put_number(uint8_t *to, size_t i, uint32_t n)
{
	memcpy(to + i * sizeof(n), &n, sizeof(n));
}

/* Steps of the clock instead of cycles, if that is shorter. Returns the step, or 0. */
static uint32_t put_ticks(struct transpose *t, struct column *cycles)
{
	size_t n = cycles->end - cycles->p, size;
	uint32_t step = ticks_step(cycles->p, n);

	size = step ? ticks_put(step, cycles->p, n, t->ticks) : 0;
	if (!size)
		return 0;
	*cycles = (struct column){ t->ticks, t->ticks + size };
	return step;
}

/* Takes the piece apart, each column behind its p. */
static void put_columns(struct transpose *t, struct column col[], const uint8_t *p, const uint8_t *end)
{
	uint32_t due = 0;

	numbered_begin(&t->numbered);
	while (p < end) {
		p = put_literals(&t->numbered, col, p, end);
		p = put_pairs(&t->numbered, col, p, end, &due);
	}
}

size_t transpose_put(struct transpose *t, const uint8_t *bytes, size_t n, uint8_t *to)
{
	uint8_t *const begin[COLUMNS] = { t->runs, t->literals, t->cycles, t->words };
	struct column col[COLUMNS];
	uint8_t *out = to + HEAD * sizeof(uint32_t);

	for (int i = 0; i < COLUMNS; i++)
		col[i].p = begin[i];
	put_columns(t, col, bytes, bytes + n);
	for (int i = 0; i < COLUMNS; i++)
		col[i] = (struct column){ begin[i], col[i].p };
	put_number(to, SIZE, n);
	put_number(to, STEP, put_ticks(t, &col[CYCLES]));
	for (int i = 0; i < COLUMNS; i++) {
		put_number(to, COLUMN + i, col[i].end - col[i].p);
		out = append(out, col[i].p, col[i].end - col[i].p);
	}
	return out - to;
}

/* --- putting together ------------------------------------------------------------------------------------ */

static uint32_t number_at(const uint8_t *from, size_t i)
{
	uint32_t n;

	memcpy(&n, from + i * sizeof(n), sizeof(n));
	return n;
}

int64_t transpose_size(const uint8_t *from, size_t n)
{
	uint64_t sum = HEAD * sizeof(uint32_t);

	if (n < sum || number_at(from, SIZE) > TRANSPOSE_MOST)
		return -EBADMSG;
	for (size_t i = 0; i < COLUMNS; i++)
		sum += number_at(from, COLUMN + i);
	return sum == n ? (int64_t)number_at(from, SIZE) : -EBADMSG;
}

static bool take_cyc(struct column *piece, struct column *cycles)
{
	size_t size = cyc_size(cycles->p, cycles->end);

	return size && column_move(piece, cycles, size);
}

static bool take_word(struct column *from, const struct shape *shape, uint64_t *bits)
{
	*bits = 0;
	if (shape->size > from->end - from->p)
		return false;
	memcpy(bits, from->p, shape->size);
	from->p += shape->size;
	return true;
}

static bool give_ptw(struct column *piece, const struct shape *shape, uint64_t bits)
{
	if (piece->end - piece->p < PTW_HEAD + shape->size)
		return false;
	piece->p = shape == &shapes[0] ? ptput_ptw_short(piece->p, bits) : ptput_ptw(piece->p, bits);
	return true;
}

static bool take_pair(struct numbered *numbered, struct column *piece, struct column col[], const struct shape *shape,
		      uint32_t *due)
{
	uint32_t number;
	uint64_t bits;

	if (!take_cyc(piece, &col[CYCLES]) || !take_word(&col[WORDS], shape, &bits))
		return false;
	bits = move_seq(bits, shape, due, true);
	if (shape == &shapes[0])
		return give_ptw(piece, shape, bits);
	number = numbered_of(numbered, without_seq(bits));
	if (number)
		return give_ptw(piece, &shapes[0], marker_short_of(marker_seq(bits), number));
	numbered_meet(numbered, without_seq(bits));
	return give_ptw(piece, shape, bits);
}

static bool take_run(struct numbered *numbered, struct column *piece, struct column col[], uint32_t *due)
{
	uint32_t literals, pairs;

	if (!column_number(&col[RUNS], &literals) || !column_move(piece, &col[LITERALS], literals) ||
	    !column_number(&col[RUNS], &pairs))
		return false;
	if (literals >= TRANSPOSE_CHUNK)
		numbered_begin(numbered);
	for (uint32_t n = pairs >> 1; n; n--)
		if (!take_pair(numbered, piece, col, &shapes[pairs & 1], due))
			return false;
	return literals || pairs >> 1; /* or it would never end */
}

/* The CYC packets of a column of steps. */
static bool take_ticks(struct transpose *t, uint32_t step, struct column *cycles)
{
	int64_t n;

	if (!step)
		return true;
	n = ticks_get(step, cycles->p, cycles->end - cycles->p, t->cycles, sizeof(t->cycles));
	if (n < 0)
		return false;
	*cycles = (struct column){ t->cycles, t->cycles + n };
	return true;
}

/* Puts the piece together. False: some column had too little or too much for it. */
static bool take_piece(struct numbered *numbered, struct column *piece, struct column col[])
{
	uint32_t due = 0;

	numbered_begin(numbered);
	while (piece->p < piece->end)
		if (!take_run(numbered, piece, col, &due))
			return false;
	for (size_t i = 0; i < COLUMNS; i++)
		if (col[i].p != col[i].end)
			return false;
	return true;
}

int transpose_get(struct transpose *t, const uint8_t *from, size_t n, uint8_t *to)
{
	int64_t size = transpose_size(from, n);
	struct column piece = { to, to + size }, col[COLUMNS];
	uint8_t *p = (uint8_t *)from + HEAD * sizeof(uint32_t);

	if (size < 0)
		return size;
	for (size_t i = 0; i < COLUMNS; i++) {
		col[i] = (struct column){ p, p + number_at(from, COLUMN + i) };
		p = col[i].end;
	}
	return take_ticks(t, number_at(from, STEP), &col[CYCLES]) && take_piece(&t->numbered, &piece, col) ? 0
													   : -EBADMSG;
}
