// SPDX-License-Identifier: MIT
#include "places.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "shared/array.h"

static bool is_same(const struct code *a, const struct code *b)
{
	return a->firstlineno == b->firstlineno && a->label == b->label && !strcmp(a->qualname, b->qualname) &&
	       !strcmp(a->file, b->file);
}

/* The key in p->names where a function of these names is, or is to be. */
static uint64_t key_of(const struct places *p, const struct code *code)
{
	uint64_t key = hash_text(hash_text(HASH_START, code->file) ^ code->firstlineno, code->qualname);
	uintptr_t found;

	while ((found = (uintptr_t)map_get(&p->names, key)) && !is_same(p->codes[found - 1], code))
		key++;
	return key;
}

static int add(struct places *p, uint64_t key, struct code *code)
{
	if (!ARRAY_ROOM(p->codes, p->n, p->size) || map_put(&p->names, key, (void *)(uintptr_t)(p->n + 1)))
		return -ENOMEM;
	p->codes[p->n++] = code;
	return 0;
}

int64_t places_number(struct places *p, struct code *code)
{
	uintptr_t found = (uintptr_t)map_get(&p->numbers, (uintptr_t)code);
	uint64_t key;

	if (found)
		return found - 1;
	key = key_of(p, code);
	if (!map_get(&p->names, key) && add(p, key, code))
		return -ENOMEM;
	found = (uintptr_t)map_get(&p->names, key);
	return map_put(&p->numbers, (uintptr_t)code, (void *)found) ? -ENOMEM : (int64_t)found - 1;
}

void places_free(struct places *p)
{
	map_free(&p->numbers);
	map_free(&p->names);
	free(p->codes);
	*p = (struct places){ 0 };
}
