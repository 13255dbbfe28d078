/* SPDX-License-Identifier: MIT */
/* tails.c - see tails.h. */
#include <string.h>

#include "ext/tails.h"

#define SHORTEST 5

static int opcode_size(const uint8_t *p, enum tails_by by)
{
	if (by == TAILS_CALL)
		return p[0] == 0xe8;
	return p[0] == 0xe9 ? 1 : p[0] == 0x0f && (p[1] & 0xf0) == 0x80 ? 2 : 0;
}

/* The target of the jump or call at p; 0: it is neither, or longer than `room`. */
static uint64_t target_of(const uint8_t *p, enum tails_by by, uint64_t room)
{
	int opcode = opcode_size(p, by);
	int32_t distance;

	if (!opcode || opcode + sizeof(distance) > room)
		return 0;
	memcpy(&distance, p + opcode, sizeof(distance));
	return (uint64_t)p + opcode + sizeof(distance) + (int64_t)distance;
}

bool tails_next(const struct image *image, const struct range *code, enum tails_by by, uint64_t *at,
		struct range *function)
{
	while (*at + SHORTEST <= code->end) {
		uint64_t target = target_of((const uint8_t *)*at, by, code->end - *at);

		*at += 1;
		if (target && (target < code->start || target >= code->end) && image_is_code(image, target) &&
		    image_function(image, target, function) && function->start == target)
			return true;
	}
	return false;
}
