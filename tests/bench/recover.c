// SPDX-License-Identifier: MIT
/*
 * recover DIR: how fast the packets of a recording in mode `opcodes` become instructions, on one core.
 *
 * What ocular-pt's first thread does: packets alone, their branches gathered, then packets and recovery, and
 * samples that are only counted. Prints instructions, bytes of perf.data, and the processor seconds of either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "front_ipt.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int none(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	(void)to, (void)pid, (void)tid, (void)ns, (void)cycles, (void)bits;
	return 0;
}

static int no_gap(void *to, int32_t pid, int32_t tid)
{
	(void)to, (void)pid, (void)tid;
	return 0;
}

static int no_rows(void *to, int32_t pid, int32_t tid, const struct rows *rows)
{
	(void)to, (void)pid, (void)tid, (void)rows;
	return 0;
}

#define ROOM 1024 /* as the pipe has it */

struct counter {
	struct recover *recover;
	uint64_t n;
	struct sample room[ROOM];
};

static int count(struct recover *r)
{
	struct counter *c = r->to;
	uint64_t n = 0;

	for (const struct sample *s = c->room; s < r->room; s++)
		n += s->op == OP_INSTRUCTION;
	c->n += n;
	r->room = c->room;
	return 0;
}

static int copy(void *counter, const struct sample *s)
{
	struct counter *c = counter;

	*c->recover->room = *s;
	return recover_made(c->recover);
}

static int walk(struct front_ipt *f, struct analysis *a)
{
	const struct pt_feed feed = {
		.word = none, .gap = no_gap, .branch = none, .enter = none, .overflow = no_gap, .rows = no_rows
	};

	(void)a;
	return pt_trace_read(&f->trace, &feed);
}

static int timed(int (*read)(struct front_ipt *, struct analysis *), const char *file, struct analysis *a,
		 double *seconds)
{
	struct front_ipt f;
	double begin = now();
	int err = front_ipt_open(&f, file);

	if (!err)
		err = read(&f, a);
	if (!err)
		front_ipt_close(&f);
	*seconds = now() - begin;
	return err;
}

int main(int argc, char **argv)
{
	const struct options options = { .status = -1 };
	static struct analysis a;
	static struct counter c = { .recover = &a.recover };
	double alone, both;
	char file[4096];
	struct stat st;

	if (argc != 2 || analysis_open(&a, &options, argv[1]))
		return EXIT_FAILURE;
	snprintf(file, sizeof(file), "%s/perf.data", argv[1]);
	recover_redirect(&a.recover, copy, &c);
	recover_give_room(&a.recover, c.room, c.room + ROOM, count);
	if (stat(file, &st) || timed(walk, file, NULL, &alone) || timed(front_ipt_decode, file, &a, &both))
		return EXIT_FAILURE;
	count(&a.recover);
	printf("%" PRIu64 " %" PRIu64 " %.4f %.4f\n", c.n, (uint64_t)st.st_size, alone, both);
	analysis_close(&a);
	return EXIT_SUCCESS;
}
