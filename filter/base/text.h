/* SPDX-License-Identifier: MIT */
/*
 * text.h - names, quoted for each kind of output.
 *
 * Names come from the traced program: any bytes but NUL. They must not break JSON, end a line of a report early, reach
 * a terminal as a control sequence, or display as another text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_json(FILE *f, const char *s);

/* Bytes at most that text_ascii() makes of one, beside the quotes. */
#define TEXT_ASCII 6

/* The same in ASCII, the rest as \uD83D\uDE00: upper case, as jansson has it. Its end; not terminated. */
char *text_ascii(char *to, const char *s);

/*
 * One line for a person: control characters as \x1b, those that set the direction as \u202e, what is not UTF-8 as
 * U+FFFD.
 */
void text_plain(FILE *f, const char *s);

/*
 * What a terminal may interpret: the length of the character at s if it is C0, DEL, C1, ends lines or changes the
 * direction of text (Unicode annex 9, 14), else 0; *c is the character.
 */
size_t text_control(const char *s, uint32_t *c);

/* Bytes at most that text_escaped() makes of one. */
#define TEXT_ESCAPED 4

/* A field of a line for cut and awk: tab, newline, backslash and what text_control() finds as escapes. Its end. */
char *text_escaped(char *to, const char *s);

/*
 * The same in at most `most` columns, 8 or more: in a longer name "..." replaces the middle, because names differ at
 * their ends. Chinese, Japanese and Korean characters and pictographs take two columns.
 */
void text_elided(FILE *f, const char *s, size_t most);

/* The same as malloc'ed text. NULL: no memory. */
char *text_elide(const char *s, size_t most);

/* The columns that text_plain() takes for s; 0 if there is no memory. */
size_t text_columns(const char *s);

/* A line of source, likewise: a tab goes on at the next multiple of 8 characters, as Python counts it. */
void text_source(FILE *f, const char *s, size_t most);

/* Bytes of the UTF-8 sequence at s, which a NUL or another ASCII character ends; 0 if it is none. */
size_t text_sequence(const char *s);

/* A malloc'ed copy in which bytes that are not UTF-8 became U+FFFD. NULL: no memory. */
char *text_utf8(const char *s);
