/* SPDX-License-Identifier: MIT */
/*
 * event_memory.h - where columns of rows are filled in: this process's own memory, or a file that their reader maps,
 * too, so that no row is copied on its way.
 *
 * Shared memory has two halves: while the reader has one, the other is filled.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EVENT_MEMORY_HALVES 2
#define EVENT_MEMORY_ROWS   64 /* what a half has is a multiple of it, */
#define EVENT_MEMORY_MOST   (1u << 24)

struct event_memory {
	char *at;
	uint32_t rows; /* of a half, */
	size_t size;   /* and its bytes */
	int freed; /* a byte comes from there for each half that the reader has done with; -1: memory is not shared */
	unsigned filled; /* so many halves */
};

/*
 * `shared`: "MEMORY,FREED,ROWS", the numbers of two open files and what a half has, or NULL: so many rows. `size` is
 * that of EVENT_MEMORY_ROWS. 0, or a negative errno: -EINVAL if it is not that, else of what cannot be mapped.
 */
int event_memory_open(struct event_memory *m, uint32_t rows, size_t size, const char *shared);

/* The half to be filled next. NULL: the reader is gone. */
char *event_memory_take(struct event_memory *m);

void event_memory_free(struct event_memory *m);
