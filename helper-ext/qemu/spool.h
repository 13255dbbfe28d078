/* SPDX-License-Identifier: MIT */
/*
 * spool.h - a trace on its way from the traced process to perf.data: a file that is filled through
 * shared memory.
 *
 * So nothing is lost when the process is killed, and no descriptor stays open that the program could see or close.
 * Packets go into a window on the file; none crosses two windows. The unused rest of a window is zeros, which are PAD
 * packets.
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#define SPOOL_HEAD   4096u
#define SPOOL_WINDOW (256u << 10)

/* Where a snapshot was taken: after how many bytes of packets, and when. */
struct spool_point {
	uint64_t used, tsc;
};

#define SPOOL_POINTS 240u /* more are not taken */

struct spool_head {
	uint32_t pid, tid; /* tid -1: the trace is a CPU's */
	uint32_t cpu;	   /* -1: the trace is a thread's */
	uint32_t reserved;
	uint64_t tsc;  /* at the beginning */
	uint64_t used; /* bytes of packets; at a window's beginning there may be none yet */
	uint64_t lost; /* 1: the disk was full; `used` stays */
	/* What the emulator knows beside the trace, for tests (truth.h). */
	uint64_t instructions; /* executed, as far as traced */
	uint64_t surprises;    /* see walk.h */
	uint64_t now;	       /* TSC */
	uint64_t npoints;
	struct spool_point points[SPOOL_POINTS];
};

_Static_assert(sizeof(struct spool_head) <= SPOOL_HEAD, "it is the first page");

struct spool {
	char path[PATH_MAX];
	struct spool_head *head; /* first page of the file */
	uint8_t *window;	 /* SPOOL_WINDOW bytes */
	uint64_t at;		 /* of the window, in packets' bytes */
};

/* Makes the file; *head is copied. Returns 0 or a negative errno. */
int spool_open(struct spool *s, const char *path, const struct spool_head *head);

/* Moves the window forward. On error it stays and is reused: head->lost says so. */
int spool_next(struct spool *s);

/* Packets end at p, in the window. */
static inline void spool_commit(struct spool *s, const uint8_t *p)
{
	if (!s->head->lost)
		s->head->used = s->at + (uint64_t)(p - s->window);
}

void spool_close(struct spool *s);

/* In a forked child: it does not have the parent's mappings. */
static inline void spool_forget(struct spool *s)
{
	s->head = 0;
	s->window = 0;
}
