/* SPDX-License-Identifier: MIT */
/* column.h - bytes that are taken from one end to the other; or a place that is filled with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "varint.h"

struct column {
	uint8_t *p, *end;
};

/* Moves n bytes, if `from` has them and there is room. */
static inline bool column_move(struct column *to, struct column *from, size_t n)
{
	if (n > (size_t)(from->end - from->p) || n > (size_t)(to->end - to->p))
		return false;
	memcpy(to->p, from->p, n);
	to->p += n;
	from->p += n;
	return true;
}

/* Takes a number (varint.h). False: there is none. */
static inline bool column_number(struct column *from, uint32_t *n)
{
	const uint8_t *p = from->p;
	bool whole = varint_get(&p, from->end, n);

	from->p = (uint8_t *)p;
	return whole;
}
