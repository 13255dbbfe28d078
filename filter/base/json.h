/* SPDX-License-Identifier: MIT */
/* json.h - small pieces of JSON made with jansson. All return NULL when there is no memory. */
#pragma once

#include <jansson.h>

/* A string of any bytes, as text_utf8 makes it valid; null for NULL. */
json_t *json_text(const char *s);

/* Adds the members of `more` to o, taking both. NULL if either is. */
json_t *json_join(json_t *o, json_t *more);

/* The same for an array and one more value. */
json_t *json_append(json_t *array, json_t *value);

struct json_number {
	const char *key;
	json_int_t value;
};

/* An object of whole numbers. */
json_t *json_numbers(const struct json_number *rows, size_t n);

#define JSON_NUMBERS(rows) json_numbers(rows, sizeof(rows) / sizeof(rows[0]))
