/* SPDX-License-Identifier: MIT */
/*
 * numbering.h - processes and threads named 1, 2, ... in the order in which they began, instead of by the kernel's
 * numbers, which differ from run to run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "spool.h"

struct numbering {
	struct thread_name {
		uint32_t tid; /* for a process's first thread, its pid */
		uint64_t tsc; /* when it began */
	} * threads;
	uint32_t n;
};

/* Takes the thread of a spool. Returns 0 or -ENOMEM. */
int numbering_add(struct numbering *g, const struct spool_head *head);

/* All have been taken. */
void numbering_sort(struct numbering *g);

/* The number for a pid or tid; unchanged if it is not one of the threads'. */
uint32_t numbering_of(const struct numbering *g, uint32_t id);

/* Renumbers `size` bytes of complete records of side.h. */
void numbering_side(const struct numbering *g, uint8_t *records, size_t size);

/* Renumbers the code tables of a folder, and their names. Returns 0 or a negative errno. */
int numbering_tables(const struct numbering *g, int folder);

void numbering_free(struct numbering *g);
