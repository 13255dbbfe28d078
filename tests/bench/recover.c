// SPDX-License-Identifier: MIT
/*
 * recover DIR: how fast the packets of a recording in mode `opcodes` become instructions, on one core.
 *
 * What ocular-pt does without what comes behind it: packets alone, then packets and recovery, with a sink
 * that only counts. Prints instructions, bytes of perf.data, and the processor seconds of either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "analysis.h"
#include "pt_trace.h"

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

static int put_word(void *a, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct word w = { pid, tid, ns, cycles, bits };

	return decode_word(&((struct analysis *)a)->decoder, &w);
}

static int put_branch(void *a, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct word w = { pid, tid, ns, cycles, bits };

	return recover_branch(&((struct analysis *)a)->recover, &w);
}

static int put_enter(void *a, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct word w = { pid, tid, ns, cycles, bits };

	return recover_enter(&((struct analysis *)a)->recover, &w);
}

static int put_gap(void *a, int32_t pid, int32_t tid)
{
	return recover_gap(&((struct analysis *)a)->recover, pid, tid);
}

static int count(void *n, const struct sample *s)
{
	*(uint64_t *)n += s->op == OP_INSTRUCTION;
	return 0;
}

static int read_all(const char *file, const struct pt_feed *feed, double *seconds)
{
	struct pt_trace t;
	double begin = now();
	int err = pt_trace_open(&t, file);

	if (!err)
		err = pt_trace_read(&t, feed);
	if (!err)
		pt_trace_close(&t);
	*seconds = now() - begin;
	return err;
}

int main(int argc, char **argv)
{
	const struct options options = { .status = -1 };
	struct analysis a;
	uint64_t n = 0;
	double alone, both;
	char file[4096];
	struct stat st;

	if (argc != 2 || analysis_open(&a, &options, argv[1]))
		return EXIT_FAILURE;
	snprintf(file, sizeof(file), "%s/perf.data", argv[1]);
	analysis_redirect(&a, count, count, &n, NULL);
	if (stat(file, &st) ||
	    read_all(file, &(struct pt_feed){ none, no_gap, none, none, no_gap, NULL }, &alone) ||
	    read_all(file, &(struct pt_feed){ put_word, put_gap, put_branch, put_enter, put_gap, &a }, &both))
		return EXIT_FAILURE;
	printf("%" PRIu64 " %" PRIu64 " %.4f %.4f\n", n, (uint64_t)st.st_size, alone, both);
	analysis_close(&a);
	return EXIT_SUCCESS;
}
