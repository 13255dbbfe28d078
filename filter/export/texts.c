// SPDX-License-Identifier: MIT
#include "texts.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "shared/array.h"

/* The key where it is, or is to be. */
static uint64_t key_of(const struct texts *t, const char *text)
{
	uint64_t key = hash_text(HASH_START, text);
	uintptr_t found;

	while ((found = (uintptr_t)map_get(&t->numbers, key)) && strcmp(t->of[found - 1], text))
		key++;
	return key;
}

int64_t texts_find(const struct texts *t, const char *text)
{
	return (int64_t)(uintptr_t)map_get(&t->numbers, key_of(t, text)) - 1;
}

int64_t texts_number(struct texts *t, const char *text)
{
	uint64_t key = key_of(t, text);
	uintptr_t found = (uintptr_t)map_get(&t->numbers, key);

	if (found)
		return found - 1;
	if (!ARRAY_ROOM(t->of, t->n, t->size) || map_put(&t->numbers, key, (void *)(uintptr_t)(t->n + 1)))
		return -ENOMEM;
	t->of[t->n] = text;
	return t->n++;
}

void texts_free(struct texts *t)
{
	map_free(&t->numbers);
	free(t->of);
	*t = (struct texts){ 0 };
}
