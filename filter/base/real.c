// SPDX-License-Identifier: MIT
/*
 * The digits of what is between 1e-4 and 1e9, which printf writes without an exponent, are those of one product: a
 * double is m * 2^-s there, m has 53 bits and the power of ten 40 at most, so that 128 hold it exactly.
 */
#include "real.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "out.h"

#define LEAST 1e-4 /* of what has no exponent */
#define MOST  1e9

static const uint64_t tens[] = {
	1,	   10,	       100,	    1000,	  10000,	 100000,	1000000,
	10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u, 1000000000000u
};

/* --- with an exponent, or very small or large --------------------------------------------------------------- */

/* "e-07" becomes "e-7", and "e+20" "e20". */
static char *tidy_exponent(char *e, const char *end)
{
	const char *digits = e + 2;
	char *to = e + 1 + (e[1] == '-');

	while (*digits == '0')
		digits++;
	memmove(to, digits, end - digits);
	return to + (end - digits);
}

/* Whatever the locale has as a point, it is one. */
static char *put_printed(char *to, double n)
{
	char text[32], *end = text + snprintf(text, sizeof(text), "%.*g", REAL_DIGITS, n);
	char *point = strpbrk(text, ".,"), *e = strchr(text, 'e');

	if (point)
		*point = '.';
	if (e)
		end = tidy_exponent(e, end);
	else if (!point)
		end = mempcpy(end, ".0", 2);
	return mempcpy(to, text, end - text);
}

/* --- all others --------------------------------------------------------------------------------------------- */

/* n * 10^scale, rounded to even. */
static uint64_t scaled(double n, unsigned scale)
{
	int exponent;
	uint64_t m = ldexp(frexp(n, &exponent), 53);
	unsigned shift = 53 - exponent;
	unsigned __int128 product = (unsigned __int128)m * tens[scale], half = (unsigned __int128)1 << (shift - 1);
	unsigned __int128 rest = product & ((half << 1) - 1);
	uint64_t whole = product >> shift;

	return whole + (rest > half || (rest == half && whole & 1));
}

/* How many digits may follow the point, of nine: more by as many zeros as it begins with. */
static unsigned decimals(double n)
{
	unsigned before = 0;

	if (n >= 1) {
		while (n >= tens[before])
			before++;
		return REAL_DIGITS - before;
	}
	return n >= 0.1 ? REAL_DIGITS : n >= 0.01 ? REAL_DIGITS + 1 : n >= 0.001 ? REAL_DIGITS + 2 : REAL_DIGITS + 3;
}

/* "." and `n` digits without the zeros at their end, but one at least. */
static char *put_decimals(char *to, uint64_t rest, unsigned n)
{
	unsigned kept = n ? n : 1;

	for (; kept > 1 && rest % 10 == 0; kept--)
		rest /= 10;
	*to++ = '.';
	for (unsigned i = kept; i--; rest /= 10)
		to[i] = '0' + rest % 10;
	return to + kept;
}

char *real_put(char *to, double n)
{
	double size = fabs(n);
	unsigned places;
	uint64_t digits;

	if (!(size >= LEAST && size < MOST - 1) && n != 0)
		return put_printed(to, n);
	if (signbit(n))
		*to++ = '-';
	if (n == 0)
		return mempcpy(to, "0.0", 3);
	places = decimals(size);
	digits = scaled(size, places);
	return put_decimals(out_dec(to, digits / tens[places]), digits % tens[places], places);
}
