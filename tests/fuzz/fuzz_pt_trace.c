// SPDX-License-Identifier: MIT
/*
 * fuzz_pt_trace.c - any bytes as a perf.data with Intel PT: read to the end without a fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pt/pt_trace.h"

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
	const struct pt_feed feed = { word, gap, word, word, gap, rows, word, &sum };
	struct pt_trace t;
	int fd = memfd_create("perf.data", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!pt_trace_open(&t, path)) {
		pt_trace_read(&t, &feed);
		pt_trace_close(&t);
	}
	close(fd);
	return 0;
}
