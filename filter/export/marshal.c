// SPDX-License-Identifier: MIT
/* Every object is one letter and its value, little-endian. */
#include "marshal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DIGIT_BITS 15 /* of a TYPE_LONG: Python/marshal.c, PyLong_MARSHAL_SHIFT */
#define DIGITS_MAX 5  /* that 64 bits need */

static void put_letter(struct out *o, char type)
{
	out_put(o, &type, 1);
}

static void put_long(struct out *o, uint64_t n)
{
	uint16_t digits[DIGITS_MAX];
	size_t count = 0;

	for (; n; n >>= DIGIT_BITS)
		digits[count++] = n & ((1u << DIGIT_BITS) - 1);
	put_letter(o, 'l');
	out_number(o, count, 4);
	for (size_t i = 0; i < count; i++)
		out_number(o, digits[i], 2);
}

void marshal_int(struct out *o, uint64_t n)
{
	if (n > INT32_MAX) {
		put_long(o, n);
		return;
	}
	put_letter(o, 'i');
	out_number(o, n, 4);
}

void marshal_float(struct out *o, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	put_letter(o, 'g');
	out_number(o, bits, sizeof(bits));
}

void marshal_str(struct out *o, const char *s)
{
	char *text = text_utf8(s);
	size_t length = text ? strlen(text) : 0;

	if (!text && !o->err)
		o->err = -ENOMEM;
	put_letter(o, 'u');
	out_number(o, length, 4);
	out_put(o, text ? text : "", length);
	free(text);
}

void marshal_tuple(struct out *o, uint32_t n)
{
	put_letter(o, '(');
	out_number(o, n, 4);
}

void marshal_dict(struct out *o)
{
	put_letter(o, '{');
}

void marshal_end_dict(struct out *o)
{
	put_letter(o, '0'); /* TYPE_NULL */
}
