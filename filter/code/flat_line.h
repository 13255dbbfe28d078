/* SPDX-License-Identifier: MIT */
/*
 * flat_line.h - the members of a code table's line that are texts and whole numbers.
 *
 * jansson takes 31,000 instructions for such a line without its rows, this 3,000 (callgrind, 2026-11-27). What this
 * does not read, jansson reads, and both are asked alike.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAT_MOST  16
#define FLAT_SLOTS 64

enum flat_type {
	FLAT_TEXT,
	FLAT_NUMBER,
	FLAT_TRUE,
	FLAT_OTHER, /* false, null */
};

struct flat_member {
	const char *key, *text; /* in the line: they end with a quotation mark */
	uint32_t key_length, text_length;
	int64_t number;
	enum flat_type type;
};

struct flat_line {
	const json_t *object; /* not NULL: this has the members */
	unsigned n;
	uint8_t last[FLAT_SLOTS]; /* by a hash of their keys: the last one's place in `all`, from 1; 0: none */
	struct flat_member all[FLAT_MOST];
};

/* A line that has no members yet; another one that is all 0 has none, either. */
void flat_line_begin(struct flat_line *l);

/*
 * Adds the members of "a":1,"b":"x" to a line. False: it is in another notation than the extension's, has an escaped
 * character, or is damaged.
 */
bool flat_line_add(struct flat_line *l, const char *text, size_t length);

bool flat_line_has(const struct flat_line *l, const char *key);

/* As a JSON parser has it, the last member of that name counts. */
int64_t flat_line_number(const struct flat_line *l, const char *key, int64_t otherwise);
bool flat_line_is(const struct flat_line *l, const char *key, const char *text);
bool flat_line_is_true(const struct flat_line *l, const char *key);

/* The number that the text is in hexadecimal digits, as strtoull() has it; 0: there is no such text. */
uint64_t flat_line_address(const struct flat_line *l, const char *key);

/* The text, in the line or jansson's: what follows it is a quotation mark or 0. NULL: there is none. */
const char *flat_line_text(const struct flat_line *l, const char *key, size_t *length);
