/* SPDX-License-Identifier: MIT */
/*
 * text.h - a growing line of JSON.
 *
 * Out of memory sets `failed` and the line stays as it is: check once, at the end. Objects and
 * arrays are written by hand around the values; text_comma() is all the help that needs.
 */
#ifndef OCULAR_TEXT_H
#define OCULAR_TEXT_H

#include <Python.h>

#define TEXT_DEPTH_MAX 16 /* containers within each other: one may hold itself */

struct text {
	char *bytes;
	size_t length, room;
	int failed;
	unsigned int depth; /* of the containers that are being written */
};

void text_add(struct text *t, const char *bytes, size_t n);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/* A comma unless a '[', '{' or ':' came last. */
void text_comma(struct text *t);

/* A JSON string of a str; what UTF-8 cannot hold (lone surrogates) with backslash escapes. */
void text_str(struct text *t, PyObject *str);

/*
 * None, bool, int, float, str, list, tuple, dict. Anything else is written as null, numbers that JSON
 * has not (nan, inf) and containers deeper than TEXT_DEPTH_MAX too; a key that is no str as its repr(),
 * or, where that fails, as "?".
 */
void text_value(struct text *t, PyObject *value);

#endif
