// SPDX-License-Identifier: MIT
/*
 * The notation that is read here is JSON, so nothing is accepted that jansson would refuse: no leading zero, nothing
 * that may not fit.
 */
#include "number_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

#define ROOM_FIRST 1024

static const struct member {
	const char *name, *begin;
	unsigned width;
} members[] = {
	{ "instructions", ",\"instructions\":[", 4 },
	{ "opcodes", ",\"opcodes\":[", 2 },
};

unsigned number_rows_width(const char *member)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].name, member))
			return members[i].width;
	return 0;
}

/* Room for one more row. */
static bool make_room(struct number_rows *r)
{
	size_t needed = (r->n + 1) * r->width, room = r->room ? 2 * r->room : ROOM_FIRST;
	int64_t *all;

	if (needed <= r->room)
		return true;
	all = realloc(r->all, room * sizeof(*all));
	if (!all)
		return false;
	r->all = all;
	r->room = room;
	return true;
}

static inline const char *read_row(const char *s, int64_t *row, unsigned width)
{
	if (*s++ != '[')
		return NULL;
	for (unsigned i = 0; i < width; i++) {
		s = number_read(s, &row[i]);
		if (!s || *s++ != (i + 1 < width ? ',' : ']'))
			return NULL;
	}
	return s;
}

/* From behind the [ to behind the ]. Text ends with what is no part of a row, so that no number runs on behind it. */
static const char *read_rows(struct number_rows *r, const char *s)
{
	if (*s == ']')
		return s + 1;
	for (; s; s++) {
		s = make_room(r) ? read_row(s, r->all + r->n * r->width, r->width) : NULL;
		if (!s || (*s != ',' && *s != ']'))
			return NULL;
		r->n++;
		if (*s == ']')
			return s + 1;
	}
	return NULL;
}

static const struct member *find_member(const char *text, size_t length, const char **at)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if ((*at = memmem(text, length, members[i].begin, strlen(members[i].begin))))
			return &members[i];
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
	m = length && text[length - 1] == '\n' ? find_member(text, length, &at) : NULL;
	if (!m)
		return false;
	begin(r, m->name, m->width);
	end = read_rows(r, at + strlen(m->begin));
	if (end && (*end == '}' || *end == ','))
		*rest = (struct cut_line){ text, at - text, end, text + length - end };
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
	json_array_foreach (array, i, row) {
		if (!make_room(r))
			return -ENOMEM;
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
