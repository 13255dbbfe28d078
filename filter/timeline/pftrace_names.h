/* SPDX-License-Identifier: MIT */
/* pftrace_names.h - code objects and loops by number, with their texts as a protobuf trace writes them. */
#pragma once

#include "code/code.h"
#include "model/loop.h"
#include "base/map.h"

/* Four numbers of 11 or 12 bytes at most, an address, and the field's head. */
#define PFTRACE_SLICE 80
#define PFTRACE_HEAD  2

struct pftrace_name {
	uint64_t number;
	char *name, *category; /* NULL: a fixed one */
	char *file;	       /* of a function, or its address on the web; NULL: there is none */
	int64_t line;
	unsigned cycles; /* of a loop: the key of its trips' cycles */
	/* The beginning of a slice of a code object: a packet's field, a track event. */
	char slice[PFTRACE_SLICE];
	uint8_t slice_length;
};

/* struct code or struct loop -> struct pftrace_name; numbers begin with `first`. */
struct pftrace_names {
	struct map map;
	uint64_t first;
	const char *source_url; /* source_link.h; NULL: files have their names */
};

/* Named and numbered on first use. NULL: no memory. */
const struct pftrace_name *pftrace_code_name(struct pftrace_names *names, const struct code *code);
const struct pftrace_name *pftrace_loop_name(struct pftrace_names *names, const struct loop *loop,
					     const struct profile *p);

/*
 * The arg with a code object's address in the traced process, if it is known; at most 24 bytes. As text: the engine in
 * browsers keeps 32 bits of a pointer. Each time: older engines do not know texts by number. Compressed it takes next
 * to nothing.
 */
char *pftrace_put_address(char *to, const struct code *code);

void pftrace_names_free(struct pftrace_names *names);
