/* SPDX-License-Identifier: MIT */
/* figure.h - numbers made short for people. */
#pragma once

#include <stdint.h>

#define FIGURE 24 /* room for one */

/* Six characters at most: 999999, 1.50M, 12.3G. Returns text. */
const char *figure_brief(char text[static FIGURE], double n);

/* The same notation for all: three digits, 999, 1.00k, 12.3G. Five characters at most. Returns text. */
const char *figure_three(char text[static FIGURE], double n);

/* Seven characters at most up to 1000 s, three digits: 1.23 s, 999 us, 17 ns. Returns text. */
const char *figure_span(char text[static FIGURE], uint64_t ns);

/* Ten characters at most up to 1000 s: 1.234 s, 999.999 us, 17 ns. Returns text. */
const char *figure_duration(char text[static FIGURE], uint64_t ns);
