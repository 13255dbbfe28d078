/* SPDX-License-Identifier: MIT */
/*
 * html.h - the elements of an HTML page. Everything from a recording passes through html_text.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "model/stat.h"

/*
 * Any bytes as text or as a quoted attribute: markup is escaped; control characters except the tab become visible
 * symbols, characters that change the direction of writing their number, and bytes that are not UTF-8 U+FFFD.
 */
void html_text(FILE *f, const char *s);

/* The same in at most `most` columns (text.h); the tooltip has what was left out. */
void html_elided(FILE *f, const char *s, size_t most);

/* Text for a tooltip: at most 1000 characters. */
void html_text_most(FILE *f, const char *s);

/* A JSON string of at most `most` columns (text.h), which may stand in an element <script>. */
void html_json(FILE *f, const char *s, size_t most);

/* A line of source: complete up to `most` bytes. */
void html_source(FILE *f, const char *s, size_t most);

/* Cells of a table. */
void html_number(FILE *f, double n);
void html_duration(FILE *f, uint64_t ns);
void html_share(FILE *f, double share); /* 0..1, with a bar */
void html_dash(FILE *f);

/* Numbers for the script, next to each other: page_numbers.js reads them. Small ones are short. */
void html_packed(FILE *f, uint64_t n);
void html_packed_signed(FILE *f, int64_t n);

/* What the cycles of a clock (profile.h) are called; NULL: it only ticks with the time, none were counted. */
const char *html_cycles(const char *clock);

/* A histogram of the distribution, with its median and 99th percentile; `what` says what was counted. */
void html_histogram(FILE *f, const struct stat_sum *s, const char *what);

/* The page's style: report.css; its script: the .js files, and its hash as a content security policy names it. */
void html_style(FILE *f);
void html_script(FILE *f);
const char *html_script_hash(void);
