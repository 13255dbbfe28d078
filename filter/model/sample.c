// SPDX-License-Identifier: MIT
/* Names and stack effects of sample ops: event.h read as a table. */
#include "sample.h"

#include <string.h>

static const struct {
	const char *name;
	enum stack_effect effect;
} ops[OP_COUNT] = {
#define X(op, event, stack, far) [op] = { #event, stack },
	OCULAR_EVENTS(X)
#undef X
		[OP_SNAPSHOT] = { "SNAPSHOT", STACK_KEEP },
	[OP_FRAMES] = { "FRAMES", STACK_KEEP },
	[OP_EXTENSION] = { "EXTENSION", STACK_KEEP },
	[SAMPLE_GAP] = { "GAP", STACK_KEEP },
	[SAMPLE_FOREIGN] = { "FOREIGN", STACK_KEEP },
	[SAMPLE_RESTART] = { "RESTART", STACK_KEEP },
	[SAMPLE_TIP] = { "TIP", STACK_KEEP },
};

const char *sample_op_name(unsigned op)
{
	return op < OP_COUNT ? ops[op].name : NULL;
}

unsigned sample_op_by_name(const char *name)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (ops[op].name && !strcmp(ops[op].name, name))
			return op;
	return 0;
}

enum stack_effect sample_op_effect(unsigned op)
{
	return op < OP_COUNT ? ops[op].effect : STACK_KEEP;
}
