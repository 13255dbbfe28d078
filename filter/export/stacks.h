/* SPDX-License-Identifier: MIT */
/* stacks.h - call paths that files share: a frame, whatever that is, and the path that called it, once each. */
#pragma once

#include "base/map.h"

#define STACKS_NONE UINT32_MAX /* the caller of the outermost frame */

struct stack_row {
	uint32_t caller, frame;
};

/* Zeroed: none yet. Callers have lower numbers. */
struct stacks {
	struct map numbers;   /* caller and frame -> number + 1 */
	struct stack_row *of; /* [n] */
	uint32_t n, size;
};

/* The number of a path, which is added if it is new. Or -ENOMEM. */
int64_t stacks_number(struct stacks *s, uint32_t caller, uint32_t frame);

void stacks_free(struct stacks *s);
