// SPDX-License-Identifier: MIT
/*
 * The notation that is read here is JSON, so nothing is accepted that jansson would refuse: no leading zero, nothing
 * that may not fit.
 */
#include "number_rows.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

#define ROOM_FIRST 1024
#define COUNT(all) (sizeof(all) / sizeof((all)[0]))

static const struct member {
	const char *name, *begin;
	unsigned width;
	bool repeats; /* lines and targets are mostly those of the row before; offsets and opcodes are not */
} members[] = {
	{ "instructions", ",\"instructions\":[", 4, true },
	{ "opcodes", ",\"opcodes\":[", 2, false },
};

unsigned number_rows_width(const char *member)
{
	for (size_t i = 0; i < COUNT(members); i++)
		if (!strcmp(members[i].name, member))
			return members[i].width;
	return 0;
}

/* Room for so many rows. */
static bool make_room(struct number_rows *r, size_t rows)
{
	size_t room = rows * r->width < ROOM_FIRST ? ROOM_FIRST : 2 * rows * r->width;

	if (rows * r->width <= r->room)
		return true;
	free(r->all);
	r->all = malloc(room * sizeof(*r->all));
	r->room = r->all ? room : 0;
	return r->all;
}

/* One number and the `end` behind it. */
static inline const char *read_number(const char *s, int32_t *number, char end)
{
	s = number_read(s, number);
	return s && *s == end ? s + 1 : NULL;
}

static const char *read_row(const char *s, int32_t *row, unsigned width)
{
	if (*s++ != '[')
		return NULL;
	for (unsigned i = 0; s && i < width; i++)
		s = read_number(s, &row[i], i + 1 < width ? ',' : ']');
	return s;
}

/* --- rows that are mostly like others ---------------------------------------------------------------------- */

#define SEEN_MOST sizeof(uint64_t)

static inline uint64_t text_at(const char *s)
{
	uint64_t text;

	memcpy(&text, s, sizeof(text));
	return le64toh(text);
}

/* A number's text with the comma behind it, and what it is; `mask` has its bytes. */
struct seen {
	uint64_t text, mask;
	unsigned length;
	int32_t number;
};

/* False: it is none, or has more than SEEN_MOST bytes. */
static inline bool see(struct seen *seen, const char *s)
{
	const char *behind = read_number(s, &seen->number, ',');

	if (!behind || behind - s >= (ptrdiff_t)SEEN_MOST)
		return false;
	seen->length = behind - s;
	seen->mask = (UINT64_C(1) << 8 * seen->length) - 1;
	seen->text = text_at(s) & seen->mask;
	return true;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The lowest bit is the highest of the first ] of the text; 0: there is none. */
static inline uint64_t brackets(uint64_t text)
{
	uint64_t other = text ^ EACH(']');

	return (other - EACH(0x01)) & ~other & EACH(0x80);
}

/* The end of a row up to its first ], which is the highest byte. */
struct key {
	uint64_t text; /* 0: it has more than SEEN_MOST bytes */
	unsigned length;
};

static inline struct key key_of(const char *s)
{
	uint64_t text = text_at(s), found = brackets(text);
	unsigned last = found ? __builtin_ctzll(found) : 0;

	return (struct key){ found ? text << (63 - last) : 0, last / 8 + 1 };
}

static inline struct row_end *find_end(struct row_end *ends, uint64_t text)
{
	return &ends[text * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ROW_ENDS_BITS)];
}

/*
 * A row of four numbers and SEEN_MOST bytes behind each. The second is mostly that of the row before. The last two are
 * looked up by their text: how long an opcode is no processor foresees. NULL: it is longer, or none.
 */
static inline const char *read_like(const char *s, int32_t *row, struct seen *line, struct row_end *ends)
{
	const struct row_end *end;
	struct key key;

	s = *s == '[' ? read_number(s + 1, &row[0], ',') : NULL;
	if (!s || (((text_at(s) & line->mask) != line->text || !line->mask) && !see(line, s)))
		return NULL;
	key = key_of(s + line->length);
	end = find_end(ends, key.text);
	if (end->text != key.text || !key.text)
		return NULL;
	row[1] = line->number;
	row[2] = end->third;
	row[3] = end->fourth;
	return s + line->length + key.length;
}

/* The end of a row up to `behind` is kept, for the next one that ends so. */
static void keep_end(struct row_end *ends, const char *behind, const int32_t *row)
{
	const char *s = behind;
	struct key key;

	for (unsigned commas = 0; commas < 2; commas += *--s == ',')
		;
	key = key_of(s + 1);
	if (key.text)
		*find_end(ends, key.text) = (struct row_end){ key.text, row[2], row[3] };
}

static inline const char *read_like_or_new(struct number_rows *r, const char *s, int32_t *row, struct seen *line)
{
	const char *behind = read_like(s, row, line, r->ends);

	if (behind)
		return behind;
	behind = read_row(s, row, 4);
	if (behind)
		keep_end(r->ends, behind, row);
	return behind;
}

/* What a row and the character behind it have at least, and one of a member that repeats at most. */
#define ROW_LEAST(width) (2 * (width) + 2)
#define ROW_MOST	 (2 + 4 * (NUMBER_DIGITS + 2))

/*
 * From behind the [ to behind the ]. Text ends with what is no part of a row, so that no number runs on behind it; near
 * its end there are no SEEN_MOST bytes behind each number.
 */
static const char *read_rows(struct number_rows *r, const char *s, const char *end, bool repeats)
{
	const unsigned width = r->width;
	const ptrdiff_t least = repeats ? ROW_MOST + SEEN_MOST : PTRDIFF_MAX;
	struct seen line = { 0 };
	int32_t *row = r->all;

	if (*s == ']')
		return s + 1;
	for (;; s++) {
		s = end - s > least ? read_like_or_new(r, s, row, &line) : read_row(s, row, width);
		row += width;
		if (!s || *s != ',')
			break;
	}
	r->n = (row - r->all) / width;
	return s && *s == ']' ? s + 1 : NULL;
}

/* Where the text has a [ that begins one. */
static const struct member *find_member(const char *text, const char *end, const char **at)
{
	for (const char *s = text; (s = memchr(s, '[', end - s)); s++) {
		for (size_t i = 0; i < COUNT(members); i++) {
			size_t length = strlen(members[i].begin);

			if ((size_t)(s + 1 - text) < length || memcmp(s + 1 - length, members[i].begin, length) != 0)
				continue;
			*at = s + 1 - length;
			return &members[i];
		}
	}
	return NULL;
}

static void begin(struct number_rows *r, const char *member, unsigned width)
{
	r->member = member;
	r->width = width;
	r->n = 0;
	r->damaged = false;
}

bool number_rows_cut(struct number_rows *r, const char *text, size_t length, struct cut_line *rest)
{
	const char *at;
	const struct member *m;
	const char *end;

	begin(r, NULL, 0);
	m = length && text[length - 1] == '\n' ? find_member(text, text + length, &at) : NULL;
	if (!m)
		return false;
	begin(r, m->name, m->width);
	at += strlen(m->begin);
	end = make_room(r, (text + length - at) / ROW_LEAST(m->width) + 1) ? /* one may be incomplete */
		      read_rows(r, at, text + length, m->repeats)
									   : NULL;
	if (end && (*end == '}' || *end == ','))
		*rest = (struct cut_line){ text, at - strlen(m->begin) - text, end, text + length - end };
	else
		r->member = NULL;
	return r->member;
}

static bool take_row(struct number_rows *r, const json_t *row)
{
	int32_t *to = r->all + r->n * r->width;

	for (unsigned i = 0; i < r->width; i++) {
		const json_t *number = json_array_get(row, i);

		to[i] = json_integer_value(number);
		if (!json_is_integer(number) || to[i] != json_integer_value(number))
			return false;
	}
	return true;
}

int number_rows_read(struct number_rows *r, const json_t *array, unsigned width)
{
	size_t i;
	json_t *row;

	begin(r, NULL, width);
	if (!make_room(r, json_array_size(array)))
		return -ENOMEM;
	json_array_foreach (array, i, row) {
		if (!take_row(r, row)) {
			r->damaged = true;
			break;
		}
		r->n++;
	}
	return 0;
}

void number_rows_free(struct number_rows *r)
{
	free(r->all);
	*r = (struct number_rows){ 0 };
}
