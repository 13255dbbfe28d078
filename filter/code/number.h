/* SPDX-License-Identifier: MIT */
/*
 * number.h - a whole number as JSON has it, of at most nine digits: it certainly fits.
 *
 * Code tables have four of one to four digits for each instruction. Eight digits at once, by multiplications, take as
 * many instructions (callgrind) and a tenth more time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_DIGITS 9

/* Behind the number; NULL: there is none. The text must end with something else than a digit. */
static inline const char *number_read(const char *s, int64_t *number)
{
	bool negative = *s == '-';
	int64_t n = 0;
	const char *first = s += negative;

	for (; *s >= '0' && *s <= '9' && s - first <= NUMBER_DIGITS; s++)
		n = 10 * n + *s - '0';
	if (s == first || s - first > NUMBER_DIGITS || (*first == '0' && s - first > 1))
		return NULL;
	*number = negative ? -n : n;
	return s;
}
