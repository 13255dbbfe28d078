/* SPDX-License-Identifier: MIT */
/*
 * tails.h - where code jumps directly to another function.
 *
 * Handlers that are functions end in jumps to what they share: the labels `error` and `start_frame` of other builds
 * are functions as well there, in no table, and dispatch too. So are parts that the compiler has moved away
 * (`.cold`). A direct jump is E9 or 0F 80 to 0F 8F with 4 bytes of distance (SDM volume 2, JMP and Jcc).
 */
#pragma once

#include "image.h"

enum tails_by { TAILS_JUMP, TAILS_CALL };

/*
 * From *at on, the next jump (or call: E8) in `code` to where another function begins; *at moves past it. Every byte
 * may be one: that 4 others lead to the first byte of a function by chance is practically impossible.
 */
bool tails_next(const struct image *image, const struct range *code, enum tails_by by, uint64_t *at,
		struct range *function);
