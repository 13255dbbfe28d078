// SPDX-License-Identifier: MIT
/* Names of CPython 3.12 to 3.15 (Python/bytecodes.c, Lib/opcode.py), one row for each opcode that is not FLOW_NEXT. */
#include "dispatch.h"

#include <errno.h>
#include <string.h>

/* A name that ends in * stands for all names with that beginning. */
static const struct {
	const char *name;
	enum flow flow;
} flows[] = {
	{ "RESUME", FLOW_RESUME },
	{ "RETURN_VALUE", FLOW_RETURN },
	{ "RETURN_CONST", FLOW_RETURN },
	{ "YIELD_VALUE", FLOW_YIELD },
	{ "RETURN_GENERATOR", FLOW_GENERATOR },
	{ "MAKE_CELL", FLOW_PROLOGUE },
	{ "COPY_FREE_VARS", FLOW_PROLOGUE },
	{ "RAISE_VARARGS", FLOW_RAISE },
	{ "RERAISE", FLOW_RAISE },
	{ "JUMP_FORWARD", FLOW_JUMP },
	{ "JUMP_BACKWARD*", FLOW_JUMP },
	{ "POP_JUMP_IF_*", FLOW_BRANCH },
	{ "SEND", FLOW_BRANCH },
	{ "FOR_ITER", FLOW_FOR },
	{ "INSTRUMENTED_LINE", FLOW_PREFIX },
	{ "INSTRUMENTED_INSTRUCTION", FLOW_PREFIX },
	{ "TRACE_RECORD", FLOW_PREFIX },
	{ "INTERPRETER_EXIT", FLOW_NOWHERE },
	{ "EXIT_INIT_CHECK", FLOW_CLEANUP },
	{ "ENTER_EXECUTOR", FLOW_UNKNOWN },
};

static bool is_named(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return !strncmp(name, pattern, length - 1);
	return !strcmp(name, pattern);
}

static enum flow flow_of(const char *name)
{
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		if (is_named(name, flows[i].name))
			return flows[i].flow;
	return FLOW_NEXT;
}

/* Opcodes that the compiler did not write. A__B are two instructions, joined before the run. */
static bool is_specialised(const char *name)
{
	return !is_named(name, "INSTRUMENTED_*") && !strstr(name, "__");
}

static uint8_t number_of(char *const names[256], const char *name)
{
	for (int op = 1; op < 256; op++)
		if (names[op] && !strcmp(names[op], name))
			return op;
	return 0;
}

/* 3.12 continues behind END_FOR, 3.13 behind the POP_TOP after it, 3.14 at the POP_ITER after it. */
static uint8_t skips(char *const names[256])
{
	bool is_313 = number_of(names, "RESUME_CHECK") && !number_of(names, "POP_ITER");

	return is_313 ? 2 : 1;
}

void dispatch_init(struct dispatch *d, const uint8_t base[256], char *const names[256])
{
	*d = (struct dispatch){ .for_skips = skips(names),
				.end_for = number_of(names, "END_FOR"),
				.not_taken = number_of(names, "NOT_TAKEN"),
				.pop_top = number_of(names, "POP_TOP") };
	if (number_of(names, "GET_ITER_VIRTUAL")) /* 3.15 */
		d->iterates = number_of(names, "GET_ITER");
	if (number_of(names, "JUMP_BACKWARD_NO_JIT")) /* 3.14: by a switch, not by a counter */
		d->twice = number_of(names, "JUMP_BACKWARD");
	memcpy(d->base, base, sizeof(d->base));
	for (int op = 0; op < 256; op++) {
		d->flow[op] = names[op] ? flow_of(names[op]) : FLOW_NEXT;
		d->gives_up[op] = names[op] && base[op] != op && is_specialised(names[op]);
		if (d->gives_up[op])
			d->head[base[op]] = true;
	}
}

int dispatch_add(struct dispatch *d, uint64_t address, enum dispatch_kind kind, uint8_t opcode)
{
	uint32_t at = dispatch_hash(address);

	while (d->addresses[at] && d->addresses[at] != address)
		at = (at + 1) & (DISPATCH_SLOTS - 1);
	if (d->addresses[at])
		return 0;
	if (d->used == DISPATCH_FULL) /* look-ups stop at a free one */
		return -ENOMEM;
	d->addresses[at] = address;
	d->slots[at] = (struct dispatch_slot){ kind, opcode };
	d->used++;
	return 0;
}
