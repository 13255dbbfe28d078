// SPDX-License-Identifier: MIT
#include "event_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_own(struct event_memory *m)
{
	m->size *= m->rows / EVENT_MEMORY_ROWS;
	m->at = calloc(1, m->size);
	return m->at ? 0 : -ENOMEM;
}

static int open_shared(struct event_memory *m, const char *shared)
{
	int memory, end = 0;
	size_t whole;

	if (sscanf(shared, "%d,%d,%" SCNu32 "%n", &memory, &m->freed, &m->rows, &end) < 3 || shared[end] ||
	    memory < 0 || m->freed < 0 || !m->rows || m->rows % EVENT_MEMORY_ROWS || m->rows > EVENT_MEMORY_MOST)
		return -EINVAL;
	m->size *= m->rows / EVENT_MEMORY_ROWS;
	whole = m->size * EVENT_MEMORY_HALVES;
	if (ftruncate(memory, (off_t)whole))
		return -errno;
	m->at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (m->at != MAP_FAILED)
		return 0;
	m->at = NULL;
	return -errno;
}

int event_memory_open(struct event_memory *m, uint32_t rows, size_t size, const char *shared)
{
	*m = (struct event_memory){ .rows = rows, .size = size, .freed = -1 };
	return shared ? open_shared(m, shared) : open_own(m);
}

static int wait_for_reader(const struct event_memory *m)
{
	ssize_t n;
	char byte;

	do
		n = read(m->freed, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -EPIPE;
}

char *event_memory_take(struct event_memory *m)
{
	unsigned half = m->filled % EVENT_MEMORY_HALVES;

	if (m->freed < 0)
		return m->at;
	if (m->filled++ >= EVENT_MEMORY_HALVES && wait_for_reader(m))
		return NULL;
	return m->at + half * m->size;
}

void event_memory_free(struct event_memory *m)
{
	if (m->freed < 0)
		free(m->at);
	else if (m->at)
		munmap(m->at, m->size * EVENT_MEMORY_HALVES);
	m->at = NULL;
}
