/* SPDX-License-Identifier: MIT */
/*
 * natives.h - samples of threads' C stacks, as numbers that stand in the threads' traces.
 *
 * A number is a list of functions, innermost first. What it is the table of the process that had it first says, in a
 * line that is written once: memory and tables grow with the program, not with the length of its trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "native/intern.h"
#include "native/unwind.h"
#include "switches.h"

/* Writes a line into the table of a process. */
typedef void (*natives_writer)(void *to, uint32_t pid, const char *line, size_t length);

struct native_process;

struct natives {
	uint32_t hz; /* 0: there are none */
	natives_writer write;
	void *to;
	struct objects objects;
	struct intern places, stacks;
	struct native_process *processes;
	uint64_t samples;	       /* in the traces */
	uint64_t dropped;	       /* by the kernel, for lack of room, switches among them */
	uint64_t unseen;	       /* threads that could not be sampled, */
	int error;		       /* for this reason, negative */
	struct switches_sample sample; /* the one that is being taken */
};

/* The number of the sample that was peeked at; 0: it tells nothing, or there is no memory. */
uint32_t natives_take(struct natives *n, uint32_t pid, const struct switches *s);

/* The process has mapped other files: a library, or its image by exec. */
void natives_remapped(struct natives *n, uint32_t pid);

/* It has ended; pid 0: all have. */
void natives_forget(struct natives *n, uint32_t pid);
void natives_free(struct natives *n);
