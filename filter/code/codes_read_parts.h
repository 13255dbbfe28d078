/* SPDX-License-Identifier: MIT */
/*
 * codes_read_parts.h - the kinds of lines of a code table, by what they are about; for codes_read*.c alone.
 *
 * docs/marker.md has the lines and their fields.
 */
#pragma once

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "codes_read.h"
#include "flat_line.h"
#include "number_rows.h"

/* A reader of a line of p's table: 0, -EINVAL for a line that cannot be used, -ENOMEM, -EPROTO. */
typedef int (*line_reader)(struct codes *c, struct process *p, json_t *line);

struct line_kind {
	const char *kind; /* NULL ends a table */
	line_reader read;
};

/* The same of lines of texts and numbers. */
typedef int (*flat_reader)(struct process *p, const struct flat_line *line);

struct flat_kind {
	const char *kind;
	flat_reader read;
};

/* The same of lines of texts, numbers and one member that is rows of numbers, which are apart. */
typedef int (*rows_reader)(struct codes *c, struct process *p, const struct flat_line *line,
			   const struct number_rows *rows);

struct rows_kind {
	const char *kind, *member;
	rows_reader read;
};

extern const struct line_kind codes_read_header[], codes_read_code[], codes_read_names[], codes_read_process[],
	codes_read_recording[];
extern const struct flat_kind codes_read_flat[];
extern const struct rows_kind codes_read_rows[];

static inline int64_t get_int(json_t *o, const char *key, int64_t otherwise)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

/* A copy of the string under key; NULL where there is none. */
static inline char *get_string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? strdup(s) : NULL;
}

/* Takes the place of what *field has. */
static inline void set_string(char **field, json_t *o, const char *key)
{
	free(*field);
	*field = get_string(o, key);
}
