/* SPDX-License-Identifier: MIT */
/* intern.c - see intern.h. */
#include <stdlib.h>
#include <string.h>

#include "intern.h"

#define ROOM_LEAST 256u

struct interned {
	uint64_t hash;
	uint8_t *bytes; /* NULL: free */
	uint32_t size, number;
};

/* FNV-1a */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static struct interned *find(const struct intern *t, uint64_t hash, const void *bytes, size_t size)
{
	struct interned *s;

	for (uint64_t i = hash;; i++) {
		s = &t->slots[i & (t->room - 1)];
		if (!s->bytes || (s->hash == hash && s->size == size && !memcmp(s->bytes, bytes, size)))
			return s;
	}
}

static bool grow(struct intern *t)
{
	struct intern wider = { .n = t->n, .room = t->room ? 2 * t->room : ROOM_LEAST };

	wider.slots = calloc(wider.room, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (uint32_t i = 0; i < t->room; i++)
		if (t->slots[i].bytes)
			*find(&wider, t->slots[i].hash, t->slots[i].bytes, t->slots[i].size) = t->slots[i];
	free(t->slots);
	*t = wider;
	return true;
}

uint32_t intern(struct intern *t, const void *bytes, size_t size, bool *new)
{
	uint64_t hash = hash_of(bytes, size);
	struct interned *s;

	*new = false;
	if (2 * (uint64_t)t->n >= t->room && !grow(t))
		return 0;
	s = find(t, hash, bytes, size);
	if (s->bytes)
		return s->number;
	s->bytes = malloc(size ? size : 1);
	if (!s->bytes)
		return 0;
	memcpy(s->bytes, bytes, size);
	s->hash = hash;
	s->size = (uint32_t)size;
	*new = true;
	return s->number = ++t->n;
}

void intern_free(struct intern *t)
{
	for (uint32_t i = 0; i < t->room; i++)
		free(t->slots[i].bytes);
	free(t->slots);
	*t = (struct intern){ 0 };
}
