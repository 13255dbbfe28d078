// SPDX-License-Identifier: MIT
/* Both directions see the same rows one after the other, so both know what would follow. */
#include "code_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"

enum { RUNS, LITERALS, OFFSETS, LINES, OPCODES, TARGETS, COLUMNS };

/* The numbers at the head of a piece: its size, and of each column. */
enum { SIZE, COLUMN, HEAD = COLUMN + COLUMNS };
_Static_assert(HEAD == CODE_ROWS_NUMBERS, "as the header says");

/* Of a row; opcodes are bytes. */
#define NUMBER_MOST ((1 << 24) - 1)
#define OPCODE_MOST 0xff
#define ROW_MOST    34 /* bytes: brackets, commas, three numbers of 8 digits and one of 3, and a comma before it */

/* Fewer in a row are literals, so that columns and runs stay within transpose_bound(). */
#define ROWS_LEAST 4

/* No row before: what follows the first one of a run is as if after this. */
#define NO_OPCODE (OPCODE_MOST + 1)

struct code_row {
	int32_t offset, line, opcode, target;
};

/* The row before, and what was added to the offset after the last one of each opcode. */
struct known {
	struct code_row before;
	int32_t added[NO_OPCODE + 1];
};

/* What the piece needs at most: four rows have 39 bytes, and take up to 16 of three columns and 4 of opcodes. */
struct code_rows {
	struct known known;
	uint8_t runs[TRANSPOSE_MOST / 8 + 64], literals[TRANSPOSE_MOST];
	uint8_t offsets[TRANSPOSE_MOST / 2 + 64], lines[TRANSPOSE_MOST / 2 + 64], opcodes[TRANSPOSE_MOST / 8 + 64];
	uint8_t targets[TRANSPOSE_MOST / 2 + 64];
};

struct code_rows *code_rows_new(void)
{
	return calloc(1, sizeof(struct code_rows));
}

void code_rows_free(struct code_rows *r)
{
	free(r);
}

static void begin_run(struct known *k)
{
	k->before = (struct code_row){ .opcode = NO_OPCODE };
}

static void begin_piece(struct known *k)
{
	memset(k->added, 0, sizeof(k->added));
	begin_run(k);
}

static void meet(struct known *k, const struct code_row *row)
{
	k->added[k->before.opcode] = row->offset - k->before.offset;
	k->before = *row;
}

/* The sign is the lowest bit. */
static uint32_t of_signed(int32_t n)
{
	return n < 0 ? (uint32_t)-n * 2 - 1 : (uint32_t)n * 2;
}

static int32_t to_signed(uint32_t n)
{
	return n & 1 ? -(int32_t)(n / 2) - 1 : (int32_t)(n / 2);
}

/* --- taking apart ---------------------------------------------------------------------------------------- */

/* A number as JSON has it, from -1 to `most`; NULL: it is none. */
static const uint8_t *read_number(const uint8_t *p, const uint8_t *end, int32_t most, int32_t *n)
{
	const uint8_t *begin = p;

	if (end - p >= 2 && p[0] == '-' && p[1] == '1') {
		*n = -1;
		return p + 2;
	}
	for (*n = 0; p < end && *p >= '0' && *p <= '9' && *n <= most; p++)
		*n = *n * 10 + (*p - '0');
	return p == begin || *n > most || (*begin == '0' && p > begin + 1) ? NULL : p;
}

static const uint8_t *read_byte(const uint8_t *p, const uint8_t *end, uint8_t byte)
{
	return p && p < end && *p == byte ? p + 1 : NULL;
}

/* A row, behind a comma or not; NULL: it is none. */
static const uint8_t *read_row(const uint8_t *p, const uint8_t *end, bool comma, struct code_row *row)
{
	int32_t *const numbers[] = { &row->offset, &row->line, &row->opcode, &row->target };

	p = comma ? read_byte(p, end, ',') : p;
	for (int i = 0; i < 4 && p; i++) {
		p = read_byte(p, end, i ? ',' : '[');
		p = p ? read_number(p, end, i == 2 ? OPCODE_MOST : NUMBER_MOST, numbers[i]) : NULL;
	}
	p = read_byte(p, end, ']');
	return p && row->opcode >= 0 ? p : NULL;
}

/* Are there ROWS_LEAST rows at p? */
static bool is_run(const uint8_t *p, const uint8_t *end)
{
	struct code_row row;

	for (int i = 0; i < ROWS_LEAST && p; i++)
		p = read_row(p, end, i, &row);
	return p;
}

/* From p on; where there is none before the end, there. */
static const uint8_t *find_run(const uint8_t *p, const uint8_t *end)
{
	while ((p = memchr(p, '[', end - p)) && !is_run(p, end))
		p++;
	return p ? p : end;
}

static void put_row(struct known *k, struct column col[], const struct code_row *row)
{
	int32_t added = row->offset - k->before.offset, target = row->target - row->offset;

	col[OFFSETS].p = varint_put(col[OFFSETS].p, of_signed(added - k->added[k->before.opcode]));
	col[LINES].p = varint_put(col[LINES].p, of_signed(row->line - k->before.line));
	*col[OPCODES].p++ = row->opcode;
	col[TARGETS].p = varint_put(col[TARGETS].p, row->target < 0 ? 0 : of_signed(target) + 1);
	meet(k, row);
}

static const uint8_t *put_rows(struct known *k, struct column col[], const uint8_t *p, const uint8_t *end)
{
	struct code_row row;
	uint32_t n = 0;

	begin_run(k);
	for (const uint8_t *next; (next = read_row(p, end, n, &row)); p = next, n++)
		put_row(k, col, &row);
	col[RUNS].p = varint_put(col[RUNS].p, n);
	return p;
}

static void put_columns(struct known *k, struct column col[], const uint8_t *p, const uint8_t *end)
{
	begin_piece(k);
	while (p < end) {
		const uint8_t *run = find_run(p, end);

		col[RUNS].p = varint_put(col[RUNS].p, run - p);
		memcpy(col[LITERALS].p, p, run - p);
		col[LITERALS].p += run - p;
		p = put_rows(k, col, run, end);
	}
}

size_t code_rows_put(struct code_rows *r, const uint8_t *bytes, size_t n, uint8_t *to)
{
	uint8_t *const begin[COLUMNS] = { r->runs, r->literals, r->offsets, r->lines, r->opcodes, r->targets };
	uint32_t head[HEAD] = { [SIZE] = n };
	uint8_t *out = to + sizeof(head);
	struct column col[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		col[i].p = begin[i];
	put_columns(&r->known, col, bytes, bytes + n);
	for (int i = 0; i < COLUMNS; i++) {
		head[COLUMN + i] = col[i].p - begin[i];
		memcpy(out, begin[i], head[COLUMN + i]);
		out += head[COLUMN + i];
	}
	memcpy(to, head, sizeof(head));
	return out - to;
}

/* --- putting together ------------------------------------------------------------------------------------ */

int64_t code_rows_size(const uint8_t *from, size_t n)
{
	uint64_t sum = HEAD * sizeof(uint32_t);
	uint32_t head[HEAD];

	if (n < sum)
		return -EBADMSG;
	memcpy(head, from, sizeof(head));
	for (size_t i = 0; i < COLUMNS; i++)
		sum += head[COLUMN + i];
	return sum == n && head[SIZE] <= TRANSPOSE_MOST ? (int64_t)head[SIZE] : -EBADMSG;
}

static bool is_number(int32_t n)
{
	return n >= -1 && n <= NUMBER_MOST;
}

/* All numbers are below 2^28, and what is known below 2^26: no sum of them overflows. */
static bool take_row(struct known *k, struct column col[], struct code_row *row)
{
	uint32_t offset, line, target;

	if (!column_number(&col[OFFSETS], &offset) || !column_number(&col[LINES], &line) ||
	    !column_number(&col[TARGETS], &target) || col[OPCODES].p == col[OPCODES].end)
		return false;
	row->offset = k->before.offset + k->added[k->before.opcode] + to_signed(offset);
	row->line = k->before.line + to_signed(line);
	row->opcode = *col[OPCODES].p++;
	row->target = target ? row->offset + to_signed(target - 1) : -1;
	return is_number(row->offset) && is_number(row->line) && is_number(row->target);
}

static uint8_t *write_number(uint8_t *p, int32_t n)
{
	uint8_t digits[10];
	int i = 0;

	if (n < 0) {
		*p++ = '-';
		n = -n;
	}
	do
		digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i)
		*p++ = digits[--i];
	return p;
}

static uint8_t *write_row(uint8_t *p, bool comma, const struct code_row *row)
{
	const int32_t numbers[] = { row->offset, row->line, row->opcode, row->target };

	if (comma)
		*p++ = ',';
	for (int i = 0; i < 4; i++) {
		*p++ = i ? ',' : '[';
		p = write_number(p, numbers[i]);
	}
	*p++ = ']';
	return p;
}

static bool give_row(struct column *piece, bool comma, const struct code_row *row)
{
	uint8_t text[ROW_MOST];
	size_t n = write_row(text, comma, row) - text;

	return column_move(piece, &(struct column){ text, text + n }, n);
}

static bool take_run(struct known *k, struct column *piece, struct column col[])
{
	uint32_t literals, rows;

	if (!column_number(&col[RUNS], &literals) || !column_move(piece, &col[LITERALS], literals) ||
	    !column_number(&col[RUNS], &rows))
		return false;
	begin_run(k);
	for (uint32_t i = 0; i < rows; i++) {
		struct code_row row;

		if (!take_row(k, col, &row) || !give_row(piece, i, &row))
			return false;
		meet(k, &row);
	}
	return literals || rows; /* or it would never end */
}

/* Puts the piece together. False: some column had too little or too much for it. */
static bool take_piece(struct known *k, struct column *piece, struct column col[])
{
	begin_piece(k);
	while (piece->p < piece->end)
		if (!take_run(k, piece, col))
			return false;
	for (size_t i = 0; i < COLUMNS; i++)
		if (col[i].p != col[i].end)
			return false;
	return true;
}

int code_rows_get(struct code_rows *r, const uint8_t *from, size_t n, uint8_t *to)
{
	int64_t size = code_rows_size(from, n);
	struct column piece = { to, to + size }, col[COLUMNS];
	uint8_t *p = (uint8_t *)from + HEAD * sizeof(uint32_t);
	uint32_t head[HEAD];

	if (size < 0)
		return size;
	memcpy(head, from, sizeof(head));
	for (size_t i = 0; i < COLUMNS; i++) {
		col[i] = (struct column){ p, p + head[COLUMN + i] };
		p = col[i].end;
	}
	return take_piece(&r->known, &piece, col) ? 0 : -EBADMSG;
}
