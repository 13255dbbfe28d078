/* SPDX-License-Identifier: MIT */
/* tails.c - see tails.h. */
#include <string.h>

#include "tails.h"

#define SHORTEST 5

/* Where the jump at p leads; 0: it is none, or not as long as `room`. */
static uint64_t target_of(const uint8_t *p, uint64_t room)
{
	int opcode = p[0] == 0xe9 ? 1 : p[0] == 0x0f && (p[1] & 0xf0) == 0x80 ? 2 : 0;
	int32_t distance;

	if (!opcode || opcode + sizeof(distance) > room)
		return 0;
	memcpy(&distance, p + opcode, sizeof(distance));
	return (uint64_t)p + opcode + sizeof(distance) + (int64_t)distance;
}

bool tails_next(const struct image *image, const struct range *code, uint64_t *at, struct range *function)
{
	while (*at + SHORTEST <= code->end) {
		uint64_t target = target_of((const uint8_t *)*at, code->end - *at);

		*at += 1;
		if (target && (target < code->start || target >= code->end) && image_is_code(image, target) &&
		    image_function(image, target, function) && function->start == target)
			return true;
	}
	return false;
}
