/* SPDX-License-Identifier: MIT */
/*
 * natives.h - what the numbers of samples stand for: lists of C functions, from the code tables. Numbers are one
 * recording's, whichever process's table says what they mean.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct native_function {
	uint32_t id;
	char *name;	  /* "deflate", "libz.so.1+0x4a20", "[unknown]" */
	char *object;	  /* path; "": none */
	char *build_id;	  /* "": none, or not known */
	bool interpreter; /* it evaluates bytecode: whoever runs is a Python function itself */
};

struct native_stack {
	size_t n;
	const struct native_function *functions[]; /* innermost first */
};

struct natives {
	struct map functions, stacks;
	bool asked; /* samples were asked for */
	uint64_t hz;
	uint64_t lost; /* records that the kernel dropped */
	uint64_t threads_without;
	char *error; /* why there are none; NULL: there may be some */
};

/* A line of a table. 0; -EINVAL: it is damaged; -ENOMEM. */
int natives_read_function(struct natives *n, json_t *line);
int natives_read_stack(struct natives *n, json_t *line);
int natives_read_totals(struct natives *n, json_t *line);
void natives_free(struct natives *n);

/* NULL: no table has it. */
const struct native_stack *natives_stack(const struct natives *n, uint32_t id);
