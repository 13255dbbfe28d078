/* SPDX-License-Identifier: MIT */
/*
 * text.h - a growing line of JSON.
 *
 * Out of memory sets `failed` and the line stays as it is: check once, at the end. Callers write the brackets of
 * objects and arrays themselves, with text_comma().
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#define TEXT_DEPTH_MAX 16	      /* nesting of containers: one may contain itself */
#define TEXT_STR_MAX   500	      /* characters of a str, if there is a limit */
#define TEXT_CUT       "\xe2\x80\xa6" /* an ellipsis ends what was cut */

struct text {
	char *bytes;
	size_t length, room;
	size_t limit; /* for text_value() and text_key(): stop at that length; 0: none */
	int failed;
	unsigned int depth; /* of the containers that are being written */
};

void text_add(struct text *t, const char *bytes, size_t n);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/*
 * "[1,2]", of one number or more: a table has four for every instruction. They take 350 instructions, 1,900 by
 * text_printf() (callgrind).
 */
void text_numbers(struct text *t, const long *numbers, size_t n);

/* A comma unless a '[', '{' or ':' came last. */
void text_comma(struct text *t);

/* A JSON string of a str; what UTF-8 cannot hold (lone surrogates) with backslash escapes. */
void text_str(struct text *t, PyObject *str);

/* The str, or another one that ends in TEXT_CUT after so many of its characters. NULL with an exception. */
PyObject *text_cut(PyObject *str, int most);

/*
 * None, bool, int, float, str, list, tuple, dict. Anything else is written as null, as are numbers that JSON lacks
 * (nan, inf) and containers deeper than TEXT_DEPTH_MAX; a key that is not a str as its repr(), or, if that fails, as
 * "?". With a limit, TEXT_CUT ends what is cut: at the end of a str, as an element of an array, as a key with null in
 * an object. The limit is exceeded by less than TEXT_BEYOND.
 */
void text_value(struct text *t, PyObject *value);
#define TEXT_BEYOND (2 * (TEXT_STR_MAX * 7 + 8) + (TEXT_DEPTH_MAX + 1) * 12)

/* In an object: a comma, key and colon. False: there is no room, and the object is cut here. */
bool text_key(struct text *t, PyObject *key);
