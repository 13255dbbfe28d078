/* SPDX-License-Identifier: MIT */
/*
 * value.h - values of JSON that are only written: each is its own text, so far.
 *
 * What is made of values takes them, and adds their text to its own. So a member costs no more than its bytes; a tree
 * has memory for each key, number and text, and is walked once more. Nothing can be asked of a value, and no key may
 * come twice. All functions return NULL when there is no memory, or if what they take is NULL; then they free the rest.
 * The text is ASCII, with a blank after each comma and colon.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"

struct value;

#define VALUE_USED __attribute__((warn_unused_result)) /* what was given may have moved */

struct value *value_object(void);
struct value *value_array(void);
struct value *value_null(void);
struct value *value_bool(bool is);
struct value *value_integer(int64_t n);

/* With nine digits; NULL for what is no number. */
struct value *value_real(double n);

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. null for NULL. */
struct value *value_text(const char *s);

/* What is JSON, as it is. */
struct value *value_json(const char *json);

/* One more of an array. Takes both. */
VALUE_USED struct value *value_append(struct value *array, struct value *more);

/* One more member; the key is any text. Takes both values. */
VALUE_USED struct value *value_set(struct value *object, const char *key, struct value *more);

/* Adds the members of `more` to o, taking both. */
VALUE_USED struct value *value_join(struct value *o, struct value *more);

/* No character of the key needs an escape. */
struct value_number {
	const char *key;
	int64_t value;
};

/* An object of whole numbers. */
struct value *value_numbers(const struct value_number *rows, size_t n);

#define VALUE_NUMBERS(rows) value_numbers(rows, sizeof(rows) / sizeof(rows[0]))

/*
 * An object {} or array [] of what follows the format, with a letter for each, after an s for the key in an object, in
 * which no character needs an escape:
 * o: a value, which is taken; o*: no member if it is NULL; s: a text, or null for NULL; i: an int; I: an int64_t;
 * f: a double; b: an int as true or false; n: null, of which nothing follows. Both may be nested.
 */
struct value *value_pack(const char *format, ...);

/* Writes it, and takes it. 0 or -ENOMEM. */
int value_put(struct value *v, struct out *out);

/* NULL is harmless. */
void value_free(struct value *v);
