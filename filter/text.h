/* SPDX-License-Identifier: MIT */
/*
 * text.h - names as they must be quoted.
 *
 * Names come from the traced program: any bytes but NUL. None may break JSON, end a line of a
 * report early, or reach a terminal as a control sequence.
 */
#ifndef OCULAR_TEXT_H
#define OCULAR_TEXT_H

#include <stdio.h>

/* A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD. */
void text_json(FILE *f, const char *s);

/* One line for a person: control characters as \x1b, bytes that are no UTF-8 as U+FFFD. */
void text_plain(FILE *f, const char *s);

/* A malloc'ed copy in which bytes that are no UTF-8 became U+FFFD. NULL: no memory. */
char *text_utf8(const char *s);

#endif
