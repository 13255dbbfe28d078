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

/* A number's text with what ends it, and what it is; `mask` has its bytes, and is 0 where there are too many. */
struct seen {
	uint64_t text, mask;
	unsigned length;
	int64_t number;
};

#define SEEN_MOST sizeof(uint64_t)

static inline uint64_t text_at(const char *s)
{
	uint64_t text;

	memcpy(&text, s, sizeof(text));
	return le64toh(text);
}

/* One number and the `end` behind it. */
static inline const char *read_number(const char *s, int64_t *number, char end)
{
	s = number_read(s, number);
	return s && *s == end ? s + 1 : NULL;
}

/* The same where it may be the one of the row before: SEEN_MOST bytes can be read. */
static inline const char *read_seen(const char *s, int64_t *number, char end, struct seen *seen)
{
	uint64_t text = text_at(s);
	const char *behind;

	*number = seen->number;
	if (seen->mask && !((text ^ seen->text) & seen->mask))
		return s + seen->length;
	behind = read_number(s, number, end);
	if (!behind)
		return NULL;
	seen->text = text;
	seen->length = behind - s;
	seen->mask = seen->length < SEEN_MOST ? (UINT64_C(1) << 8 * seen->length) - 1 : 0;
	seen->number = *number;
	return behind;
}

/* Every second number repeats. */
static inline const char *read_repeating_row(const char *s, int64_t *row, struct seen *second, struct seen *fourth)
{
	s = *s == '[' ? read_number(s + 1, &row[0], ',') : NULL;
	s = s ? read_seen(s, &row[1], ',', second) : NULL;
	s = s ? read_number(s, &row[2], ',') : NULL;
	return s ? read_seen(s, &row[3], ']', fourth) : NULL;
}

static inline const char *read_row(const char *s, int64_t *row, unsigned width)
{
	if (*s++ != '[')
		return NULL;
	for (unsigned i = 0; s && i < width; i++)
		s = read_number(s, &row[i], i + 1 < width ? ',' : ']');
	return s;
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
	struct seen second = { 0 }, fourth = { 0 };
	int64_t *row = r->all;

	if (*s == ']')
		return s + 1;
	for (;; s++) {
		bool quickly = repeats && end - s > ROW_MOST + (ptrdiff_t)SEEN_MOST;

		s = quickly ? read_repeating_row(s, row, &second, &fourth) : read_row(s, row, width);
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
	int64_t *to = r->all + r->n * r->width;

	for (unsigned i = 0; i < r->width; i++) {
		const json_t *number = json_array_get(row, i);

		if (!json_is_integer(number))
			return false;
		to[i] = json_integer_value(number);
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
