// SPDX-License-Identifier: MIT
#include "pool.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks double from the first size to the last: a small program takes little, and no block is mapped in vain. */
#define BLOCK_FIRST (16 << 10)
#define BLOCK_LAST  (64 << 10)
#define BLOCK_HUGE  (2 << 20) /* a huge page */

struct pool_block {
	struct pool_block *before;
	size_t size; /* with this */
};

static size_t aligned(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static struct pool_block *map(size_t size, int flags)
{
	void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return block == MAP_FAILED ? NULL : block;
}

/* BLOCK_HUGE bytes at a multiple of it. Where the kernel has no huge page for them, one call maps all small ones. */
static struct pool_block *map_huge(void)
{
	char *all = (char *)map(2 * BLOCK_HUGE, 0), *block;

	if (!all)
		return NULL;
	block = all + -(uintptr_t)all % BLOCK_HUGE;
	if (block > all)
		munmap(all, block - all);
	munmap(block + BLOCK_HUGE, all + BLOCK_HUGE - block);
	madvise(block, BLOCK_HUGE, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
	madvise(block, BLOCK_HUGE, MADV_POPULATE_WRITE);
#endif
	return (struct pool_block *)block;
}

/* What a block is to have that needs so many bytes. */
static size_t size_of_next(const struct pool *p, size_t needed)
{
	size_t size = !p->last ? BLOCK_FIRST : p->last->size < BLOCK_LAST ? 2 * p->last->size : BLOCK_LAST;

	if (p->expected >= BLOCK_HUGE && needed <= BLOCK_HUGE)
		return BLOCK_HUGE;
	return size < needed ? aligned(needed, BLOCK_FIRST) : size;
}

/* With room for so many bytes behind the head. */
static struct pool_block *add_block(struct pool *p, size_t size)
{
	size_t needed = aligned(sizeof(struct pool_block), alignof(max_align_t)) + size;
	size_t next = size_of_next(p, needed);
	struct pool_block *block;

	if (size > PTRDIFF_MAX)
		return NULL;
	block = next == BLOCK_HUGE ? map_huge() : map(next, MAP_POPULATE);
	if (!block)
		return NULL;
	*block = (struct pool_block){ p->last, next };
	p->last = block;
	p->used = needed - size;
	p->expected -= p->expected < next ? p->expected : next;
	return block;
}

void *pool_take(struct pool *p, size_t size)
{
	size_t at = aligned(p->used, alignof(max_align_t));

	if (!p->last || at > p->last->size || size > p->last->size - at) {
		if (!add_block(p, size))
			return NULL;
		at = p->used;
	}
	p->used = at + size;
	return (char *)p->last + at;
}

char *pool_text(struct pool *p, const char *text, size_t length)
{
	char *copy = pool_take(p, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

char *pool_print(struct pool *p, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = length < 0 ? NULL : pool_take(p, length + 1);
	va_start(args, format);
	if (text)
		vsnprintf(text, length + 1, format, args);
	va_end(args);
	return text;
}

void pool_free(struct pool *p)
{
	for (struct pool_block *block = p->last, *before; block; block = before) {
		before = block->before;
		munmap(block, block->size);
	}
	*p = (struct pool){ 0 };
}
