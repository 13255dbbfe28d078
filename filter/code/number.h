/* SPDX-License-Identifier: MIT */
/*
 * number.h - a whole number as JSON has it, of at most nine digits: it certainly fits.
 *
 * Code tables have four of one to four digits for each instruction, of about as many as in the row before. Each length
 * has branches of its own, which processors foresee, so that the next number is begun before this one is finished. A
 * loop takes a fifth more time, eight digits at once by multiplications twice as much: where the next one begins is
 * known only when they are done.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_DIGITS 9

/* Greater than 9: it is none. */
static inline unsigned number_digit(char c)
{
	return (uint8_t)(c - '0');
}

/* As number_read(), of any length. */
static __attribute__((noinline, unused)) const char *number_read_any(const char *s, int32_t *number)
{
	bool negative = *s == '-';
	uint32_t n = 0; /* ten digits may be too many for it, but are no number here */
	const char *first = s += negative;

	for (; number_digit(*s) <= 9 && s - first <= NUMBER_DIGITS; s++)
		n = 10 * n + number_digit(*s);
	if (s == first || s - first > NUMBER_DIGITS || (*first == '0' && s - first > 1))
		return NULL;
	*number = negative ? -(int32_t)n : (int32_t)n;
	return s;
}

static inline const char *number_is(const char *behind, unsigned n, int32_t *number)
{
	*number = n;
	return behind;
}

/* Behind the number; NULL: there is none. The text must end with something else than a digit. */
static inline __attribute__((always_inline)) const char *number_read(const char *s, int32_t *number)
{
	unsigned n = number_digit(s[0]), next;

	if (n - 1 > 8)
		return number_read_any(s, number);
	if ((next = number_digit(s[1])) > 9)
		return number_is(s + 1, n, number);
	n = 10 * n + next;
	if ((next = number_digit(s[2])) > 9)
		return number_is(s + 2, n, number);
	n = 10 * n + next;
	if ((next = number_digit(s[3])) > 9)
		return number_is(s + 3, n, number);
	n = 10 * n + next;
	return number_digit(s[4]) > 9 ? number_is(s + 4, n, number) : number_read_any(s, number);
}
