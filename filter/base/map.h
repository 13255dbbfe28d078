/* SPDX-License-Identifier: MIT */
/*
 * map.h - 64-bit key to pointer, open addressing, no removal.
 *
 * Used to find threads, processes and code objects, once per marker or less; they live as long as the analysis, so
 * single entries are never removed. A zeroed struct is an empty map.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: free slot */
};

struct map {
	struct map_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

/* A key of two numbers. */
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Where a key's search begins. Fibonacci hashing: 2^64 / golden ratio spreads consecutive ids over the whole table. */
static inline size_t map_start(const struct map *m, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull >> 32) & (m->size - 1);
}

/* As map_get, of a table that is not empty. */
void *map_search(const struct map *m, uint64_t key);

/* The value under key, or NULL. */
static inline void *map_get(const struct map *m, uint64_t key)
{
	const struct map_slot *s;

	if (!m->size)
		return NULL;
	s = &m->slots[map_start(m, key)];
	return s->key == key || !s->value ? s->value : map_search(m, key);
}

/* As map_place, of any table. */
struct map_slot *map_search_place(struct map *m, uint64_t key);

/*
 * Where the value under key is. If there was none its `value` is NULL, and has to be set before anything else is done
 * with the map. NULL: no memory. Valid until something is put.
 */
static inline struct map_slot *map_place(struct map *m, uint64_t key)
{
	struct map_slot *s = m->size ? &m->slots[map_start(m, key)] : NULL;

	return s && s->key == key && s->value ? s : map_search_place(m, key);
}

/* Puts a non-NULL value under key, replacing an older one. 0 or -ENOMEM. */
int map_put(struct map *m, uint64_t key, void *value);

/* Adds a number, not 0, to that under key, which is kept in place of a pointer: none is 0. 0 or -ENOMEM. */
int map_count(struct map *m, uint64_t key, uint64_t more);

/* Puts `size` zeroed bytes under key and returns them: a value for free(). NULL: no memory. */
void *map_add(struct map *m, uint64_t key, size_t size);

/* Frees the slots, not the values. */
void map_free(struct map *m);

/* Frees both, where free() is all that the values need. */
void map_free_all(struct map *m);

/* for (struct map_slot *s = NULL; (s = map_next(m, s));) visits all entries in no particular order. */
struct map_slot *map_next(const struct map *m, struct map_slot *at);
