/* SPDX-License-Identifier: MIT */
/*
 * pool.h - memory for much that is small and lives equally long: it is taken piece by piece, and given back at once.
 *
 * Where a program has thousands of code objects, malloc() and free() of their parts, and the faults at the first touch
 * of each page, cost as much as reading their table. Here the kernel maps a block's pages with one call,
 * and much that is expected in huge pages, where it has them: it takes 2 ms to map 12 MB so, and 10 in pages of 4 KB.
 */
#pragma once

#include <stddef.h>

struct pool_block;

/* A zeroed one is empty. */
struct pool {
	struct pool_block *last; /* the one in use; the others behind it */
	size_t used;		 /* bytes of it */
	size_t expected;	 /* bytes that will probably be taken yet; the caller may set it at any time */
};

/* So many bytes, all 0, aligned for any type; they are the pool's. NULL: no memory. */
void *pool_take(struct pool *p, size_t size);

/* A copy that ends with 0. */
char *pool_text(struct pool *p, const char *text, size_t length);

/* The same of what printf() would write. */
char *pool_print(struct pool *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

void pool_free(struct pool *p);
