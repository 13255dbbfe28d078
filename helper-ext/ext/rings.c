/* SPDX-License-Identifier: MIT */
/*
 * rings.c - see rings.h. A ring is a sealed memfd: its size is final, whatever this process does later.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"
#include "recorder.h"
#include "rings.h"
#include "shared/array.h"

/* A ring's initial memory, and a page. 1,000 threads that do little take 32 MB. */
#define FIRST_BYTES (32u << 10)
#define PAGE	    4096u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14, include/uapi/asm-generic/mman-common.h */
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static struct {
	struct ring_config config;
	char *dir;
	struct ring **idle;
	size_t nidle, room;
} rings;

int rings_start(const struct ring_config *config, const char *dir)
{
	char *copy = strdup(dir);

	if (!copy)
		return -ENOMEM;
	free(rings.dir);
	rings.dir = copy;
	rings.config = *config;
	/* In another pid namespace its death cannot be seen: assume that it lives. */
	if (kill((pid_t)config->recorder_pid, 0) && errno == ESRCH)
		rings.config.recorder_pid = 0;
	return 0;
}

char *rings_where(void)
{
	char *copy;

	process_lock();
	copy = rings.dir ? strdup(rings.dir) : NULL;
	process_unlock();
	return copy;
}

const struct ring_config *rings_config(void)
{
	return &rings.config;
}

static struct ring *map_ring(int memfd, uint32_t nrecords, uint32_t tid)
{
	size_t size = ring_size(nrecords);
	struct ring *r;

	if (ftruncate(memfd, (off_t)size) || fcntl(memfd, F_ADD_SEALS, SEALS))
		return NULL;
	r = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (r == MAP_FAILED)
		return NULL;
	madvise(r, size, MADV_DONTFORK);
	ring_init(r, nrecords);
	atomic_init(&r->tid, tid);
	return r;
}

/* Memory for bytes not written yet: the first touch in the hot path would cost microseconds. */
static void populate(struct ring *r, size_t from, size_t to)
{
	if (!madvise((char *)r + from, to - from, MADV_POPULATE_WRITE) || errno != EINVAL)
		return;
	for (volatile char *page = (char *)r + from; page < (char *)r + to; page += PAGE)
		*page = 0;
}

void rings_grow(struct ring *r)
{
	size_t had = r->populated ? ring_size(r->populated) : RING_HEADER, size = ring_size(r->nrecords);
	size_t wanted = r->populated ? 2 * had - RING_HEADER : FIRST_BYTES;

	if (wanted > size)
		wanted = size;
	populate(r, had, wanted);
	r->populated = (uint32_t)((wanted - RING_HEADER) / sizeof(struct ring_record));
}

static struct ring *make_ring(uint32_t tid)
{
	int memfd = memfd_create("ocular-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ring *r;
	int err;

	if (memfd < 0)
		return NULL;
	r = map_ring(memfd, rings.config.nrecords, tid);
	err = r ? -recorder_add(rings.dir, tid, memfd) : errno;
	close(memfd);
	if (r && err) {
		munmap(r, ring_size(r->nrecords));
		r = NULL;
	}
	errno = err;
	return r;
}

uint64_t rings_head(const struct ring *r)
{
	return ring_head(r, r->first, r->nrecords);
}

uint32_t rings_room(struct ring *r)
{
	return (uint32_t)(atomic_load_explicit(&r->tail, memory_order_acquire) + r->nrecords - rings_head(r));
}

bool rings_deserted(struct ring *r)
{
	pid_t recorder = (pid_t)rings.config.recorder_pid;

	return (r && atomic_load_explicit(&r->closed, memory_order_acquire)) ||
	       (recorder && kill(recorder, 0) && errno == ESRCH);
}

struct ring *rings_take(uint32_t tid, bool *used)
{
	*used = rings.nidle > 0;
	if (!*used)
		return make_ring(tid);
	if (rings.config.meet && recorder_meet(rings.dir, tid))
		rings.config.meet = 0; /* it is in trouble, or gone: one wait is enough */
	return rings.idle[--rings.nidle];
}

void rings_give(struct ring *r)
{
	if (ARRAY_ROOM(rings.idle, rings.nidle, rings.room))
		rings.idle[rings.nidle++] = r;
	else
		rings_finish(r);
}

void rings_finish(struct ring *r)
{
	atomic_store_explicit(&r->finished, 1, memory_order_release);
	munmap(r, ring_size(r->nrecords));
}

void rings_stop(void)
{
	while (rings.nidle)
		rings_finish(rings.idle[--rings.nidle]);
}

void rings_forget(void)
{
	rings.nidle = 0;
}
