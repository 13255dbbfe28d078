/* SPDX-License-Identifier: MIT */
/*
 * breakpoint.h - the kernel reports when a thread reaches an address.
 *
 * Hardware breakpoints of perf_event_open(2): the program is not changed and not stopped, a hit costs it some 10 to 25
 * microseconds (facts in docs/flight.md). A breakpoint belongs to a thread, which has four; new threads are looked for
 * ten times a second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "registers.h"

struct breakpoint {
	int fd; /* becomes readable when hit */
	uint32_t pid, tid;
	uint64_t address;
	const char *what; /* the user's words; borrowed */
	void *ring;
	struct breakpoint *next;
};

struct hit {
	uint32_t pid, tid;
	uint64_t ns; /* CLOCK_MONOTONIC */
	int nargs;   /* of the first integer arguments; 0: not known */
	uint64_t args[REGISTERS_ARGS];
};

struct breakpoints {
	struct breakpoint *first;
	int error; /* of the first that could not be set, negative; reported once */
};

/*
 * Sets one in each thread of the process that has none yet. watch(to, fd) is called for each new descriptor. what:
 * "[OBJECT:]SYMBOL". Returns how many are in force in the process.
 */
unsigned int breakpoints_set(struct breakpoints *b, uint32_t pid, const char *what, void (*watch)(void *to, int fd),
			     void *to);

/* The next hit that a descriptor reports, and its breakpoint; NULL: no more. */
struct breakpoint *breakpoints_hit(struct breakpoints *b, int fd, struct hit *hit);

/* The thread of that descriptor has ended. */
void breakpoints_end(struct breakpoints *b, int fd);

/* Removes those of a process, pid 0: all. */
void breakpoints_drop(struct breakpoints *b, uint32_t pid);
