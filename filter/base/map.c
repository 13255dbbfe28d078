// SPDX-License-Identifier: MIT
/* Linear probing over a power-of-two table that is kept at most half full. */
#include "map.h"

#include <errno.h>
#include <stdlib.h>

static struct map_slot *probe(const struct map *m, uint64_t key)
{
	size_t i = map_start(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

void *map_search(const struct map *m, uint64_t key)
{
	return probe(m, key)->value;
}

static int grow(struct map *m)
{
	struct map bigger = { .size = m->size ? m->size * 2 : 16, .used = m->used };

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (struct map_slot *s = NULL; (s = map_next(m, s));)
		*probe(&bigger, s->key) = *s;
	free(m->slots);
	*m = bigger;
	return 0;
}

struct map_slot *map_search_place(struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (m->used * 2 >= m->size && grow(m))
		return NULL;
	s = probe(m, key);
	m->used += !s->value;
	s->key = key;
	return s;
}

int map_put(struct map *m, uint64_t key, void *value)
{
	struct map_slot *s = map_place(m, key);

	if (!s)
		return -ENOMEM;
	s->value = value;
	return 0;
}

int map_count(struct map *m, uint64_t key, uint64_t more)
{
	struct map_slot *s = map_place(m, key);

	if (!s)
		return -ENOMEM;
	s->value = (void *)(uintptr_t)((uintptr_t)s->value + more);
	return 0;
}

void *map_add(struct map *m, uint64_t key, size_t size)
{
	void *value = calloc(1, size);

	if (!value || !map_put(m, key, value))
		return value;
	free(value);
	return NULL;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

void map_free_all(struct map *m)
{
	for (struct map_slot *s = NULL; (s = map_next(m, s));)
		free(s->value);
	map_free(m);
}

struct map_slot *map_next(const struct map *m, struct map_slot *at)
{
	for (at = at ? at + 1 : m->slots; at && at < m->slots + m->size; at++)
		if (at->value)
			return at;
	return NULL;
}
