/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - where this interpreter's opcode handlers are, found in its own memory without symbols.
 *
 * CPython built with computed gotos jumps from handler to handler through a table of 256 addresses
 * (`opcode_targets`; with tail calls `INSTRUCTION_TABLE`), one for each value of an opcode byte. Each
 * such jump is one TIP packet of Intel PT whose target names the opcode. docs/opcodes.md has the
 * method and what was measured.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"

#define DISPATCH_OPCODES 256
#define DISPATCH_RANGES	 512
#define DISPATCH_SITES	 256
#define DISPATCH_ERROR	 200

struct dispatch {
	uint64_t targets[DISPATCH_OPCODES]; /* address of each opcode's handler */
	uint64_t unused;		    /* shared by the numbers that are not opcodes */
	/* The functions that hold the handlers; if each is one, also what they jump to and what calls the first */
	struct range code[DISPATCH_RANGES];
	size_t ncode; /* 0: the object does not say where functions end */
	/* Return addresses in handlers behind which the same instruction is dispatched again: it
	 * was just specialized. Ascending. */
	uint64_t again[DISPATCH_SITES];
	size_t nagain;
};

/*
 * used[op]: the interpreter has an opcode of that number. 0; -ENOENT: no table, or -ENOTUNIQ: more than one thing that
 * could be it, or -EINVAL: every number is an opcode, so the table cannot be recognized, or -ENOTSUP: handlers are in
 * many functions in an unknown way, or -E2BIG: too much belongs to them. Then error[DISPATCH_ERROR] holds the reason in
 * one line.
 */
int dispatch_find(struct dispatch *d, const struct image *image, const bool used[DISPATCH_OPCODES], char *error);
