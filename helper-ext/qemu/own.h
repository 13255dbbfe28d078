/* SPDX-License-Identifier: MIT */
/*
 * own.h - which of the instructions that a thread runs are the program's own, and which run only because it is traced.
 *
 * The latter are those of the tool (an extension whose PTWRITEs we want), what the tool calls, what leads from the
 * interpreter to a PTWRITE of the tool's, and the instrumented opcode handlers, each of which counts as the handler
 * that would have run in its place. So a traced program counts as many instructions as it has untraced.
 *
 * Code is in three places: the interpreter's evaluation function (which is what the address filter lets through), the
 * tool, and everything else. Who leaves one of the first two by a call comes back behind it; until then we wait for
 * that address. A PTWRITE of the tool's says that all from that call on was for the tool: time goes back to it. No
 * packet was written since, as the filter kept what is outside quiet; where one was, time stays. Until the first
 * PTWRITE time stands still: how long the tool takes to begin is another length in each run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "core.h"

#define OWN_DEEPEST 65536u /* nested calls out of the evaluation function; more are forgotten */

enum own_place { OWN_ELSEWHERE, OWN_EVALUATION, OWN_TOOL };

/* The state of the evaluation function. */
struct own_handler {
	const struct handler_rule *rule; /* the rule by which the running handler was counted; NULL: as it runs */
	struct handler *learns;		 /* being learnt: how many instructions it has taken so far; or NULL */
	uint32_t learnt;
	bool calls;
	const struct handler *previous; /* the previous one; NULL: it has no rule, or was counted with others */
};

struct own_call {
	uint64_t back;	/* where it returns to; 0: where the tool continues */
	uint64_t tsc;	/* when it was made */
	uint64_t bytes; /* of the trace at that time */
	bool idle;	/* what it runs is not the program's */
	struct own_handler handler;
};

struct own {
	struct own_call *calls; /* room for OWN_DEEPEST, allocated on first use */
	unsigned n;
	enum own_place place;
	bool idle; /* the code running now does not count */
	bool late; /* there was a PTWRITE */
	struct own_handler handler;
};

/* Control passes from `last` (NULL: not known) to `next`, which begins now. */
void own_block(struct own *o, struct core *c, const struct block *last, const struct block *next);

/* The tool executes a PTWRITE. */
void own_word(struct own *o, struct core *c);

void own_free(struct own *o);
