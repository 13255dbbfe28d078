// SPDX-License-Identifier: MIT
/*
 * fuzz_pt_trace.c - any bytes as a perf.data with Intel PT: read to the end without a fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf_mutator.h"
#include "pt/pt_trace.h"

/* Words that are gathered are those that are told one by one. */
struct gathered {
	uint64_t sum;
	struct words *at, words;
};

static int add(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct gathered *g = to;

	g->sum = g->sum * 31 + (uint64_t)pid + tid;
	g->sum = (g->sum * 31 + ns) * 31 + cycles;
	g->sum = g->sum * 31 + bits;
	return 0;
}

static int add_gap(void *to, int32_t pid, int32_t tid)
{
	return add(to, pid, tid, 0, 0, 0);
}

static int add_all(void *to, int32_t pid, int32_t tid, uint32_t n)
{
	struct gathered *g = to;
	const struct words *w = g->at;

	for (uint32_t i = w->n; i < w->n + n; i++)
		add(to, pid, tid, w->ns[i], w->cycles[i], w->bits[i]);
	return 0;
}

static void read_by(const struct pt_feed *feed, const char *path)
{
	struct pt_trace t;

	if (pt_trace_open(&t, path))
		return;
	pt_trace_read(&t, feed);
	pt_trace_close(&t);
}

static void compare(const char *path)
{
	static struct gathered one, many;

	one = many = (struct gathered){ 0 };
	many.at = &many.words;
	read_by(&(struct pt_feed){ .word = add, .gap = add_gap, .cpu = add, .to = &one }, path);
	read_by(
		&(struct pt_feed){
			.word = add, .gap = add_gap, .cpu = add, .words = add_all, .room = &many.at, .to = &many },
		path);
	if (one.sum != many.sum)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int word(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	uint64_t *sum = to;

	*sum += (uint64_t)pid + tid + ns + cycles + bits;
	return 0;
}

static int gap(void *to, int32_t pid, int32_t tid)
{
	return word(to, pid, tid, 0, 0, 0);
}

static int rows(void *to, int32_t pid, int32_t tid, const struct rows *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		word(to, pid, tid, rows_ns(r, &r->at[i]), rows_cycles(r, &r->at[i]), r->at[i].ip);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	uint64_t sum = 0;
	const struct pt_feed feed = { .word = word,
				      .gap = gap,
				      .branch = word,
				      .enter = word,
				      .overflow = gap,
				      .rows = rows,
				      .cpu = word,
				      .to = &sum };
	int fd = memfd_create("perf.data", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_by(&feed, path);
	compare(path);
	close(fd);
	return 0;
}
