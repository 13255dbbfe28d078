/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.h - what the threads of a Firefox profile share: functions, frames, and stacks, each of them once.
 *
 * A frame is a function and what the thread did in it meanwhile; a stack is a frame and the stack that called it.
 */
#pragma once

#include "base/out.h"
#include "code/codes.h"
#include "places.h"
#include "stacks.h"
#include "texts.h"

/* What time is; ANY: of a frame that called others, and where it is not known when threads were on a CPU. */
enum firefox_state { FIREFOX_ANY, FIREFOX_ON_CPU, FIREFOX_WAITING, FIREFOX_READY, FIREFOX_STATES };

struct firefox_frame {
	uint32_t function;
	enum firefox_state state;
};

/* Zeroed but for `codes`: empty. */
struct firefox_tables {
	const struct codes *codes;
	struct places functions;
	struct texts files;
	struct map frame_numbers; /* function and state -> number + 1 */
	struct firefox_frame *frames;
	uint32_t nframes, frames_size;
	struct stacks stacks;
};

/* The number of the stack of `code` called from `caller` (or STACKS_NONE), made if it is new. Or -ENOMEM. */
int64_t firefox_stack(struct firefox_tables *t, uint32_t caller, struct code *code, enum firefox_state state);

/* The same stack while its last function is in `state`. */
int64_t firefox_stack_in(struct firefox_tables *t, uint32_t stack, enum firefox_state state);

/* Write JSON: the value of meta.categories, and that of shared. */
void firefox_put_categories(struct out *out);
int firefox_put_tables(struct firefox_tables *t, struct out *out); /* 0 or -ENOMEM */

void firefox_tables_free(struct firefox_tables *t);
