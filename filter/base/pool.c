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

struct pool_block {
	struct pool_block *before;
	size_t size; /* with this */
};

static size_t aligned(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

/* With room for so many bytes behind the head. */
static struct pool_block *add_block(struct pool *p, size_t size)
{
	size_t grown = !p->last ? BLOCK_FIRST : p->last->size < BLOCK_LAST ? 2 * p->last->size : BLOCK_LAST;
	size_t needed = aligned(sizeof(struct pool_block), alignof(max_align_t)) + size;
	struct pool_block *block;

	if (size > PTRDIFF_MAX)
		return NULL;
	grown = grown < needed ? aligned(needed, BLOCK_FIRST) : grown;
	block = mmap(NULL, grown, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	*block = (struct pool_block){ p->last, grown };
	p->last = block;
	p->used = needed - size;
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
