/* SPDX-License-Identifier: MIT */
/*
 * numbering.h - processes and threads named 1, 2, ... in the order in which they began, in place of what the kernel
 * called them, which is another name in each run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "spool.h"

struct numbering {
	struct thread_name {
		uint32_t tid; /* that of a process's first thread is its pid */
		uint64_t tsc; /* when it began */
	} * threads;
	uint32_t n;
};

/* Takes the thread of a spool. Returns 0 or -ENOMEM. */
int numbering_add(struct numbering *g, const struct spool_head *head);

/* All are there. */
void numbering_sort(struct numbering *g);

/* The number of a pid or tid; the same again if it is none of the threads'. */
uint32_t numbering_of(const struct numbering *g, uint32_t id);

/* In `size` bytes of whole records of side.h. */
void numbering_side(const struct numbering *g, uint8_t *records, size_t size);

/* In the code tables of a folder, and in their names. Returns 0 or a negative errno. */
int numbering_tables(const struct numbering *g, int folder);

void numbering_free(struct numbering *g);
