// SPDX-License-Identifier: MIT
/*
 * fuzz_feed.c - any bytes as an events text: through stacks, loops and every sink.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "feed.h"

#define WORDS 8

/* Leads to /dev/null: the name chooses the format. */
static char pftrace[] = "perfetto=/tmp/ocular-fuzz-XXXXXX.pftrace";

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *pftrace_path(void)
{
	return pftrace + strlen("perfetto=");
}

static void forget(void)
{
	unlink(pftrace_path());
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = mkstemps(pftrace_path(), strlen(".pftrace"));

	(void)argc;
	(void)argv;
	if (fd < 0)
		return -1;
	close(fd);
	forget();
	atexit(forget);
	return symlink("/dev/null", pftrace_path());
}

/* One of these is taken, by the size of the input. */
static char *const ways[][WORDS] = {
	{ "perfetto=/dev/null", "summary=/dev/null", "events=/dev/null" },
	{ pftrace, "pstats=/dev/null", "collapsed=/dev/null" },
	{ "perfetto=/dev/null", "iterations=slices", "speedscope=/dev/null", "firefox=/dev/null" },
	{ pftrace, "iterations=slices", "min_duration=50ns", "callgrind=/dev/null" },
	{ pftrace, "iterations=slices", "max_size=16K", "html=/dev/null" },
	{ "perfetto=/dev/null", "min_duration=50ns", "max_size=16K", "pprof=/dev/null", "otlp=/dev/null" },
};

/* Of a row: fuzzers have argv, not const. */
static int copy(char *const way[WORDS], char *words[WORDS])
{
	int n = 0;

	while (n < WORDS && way[n]) {
		words[n] = way[n];
		n++;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS];
	int n = copy(ways[size % (sizeof(ways) / sizeof(*ways))], words);
	char error[ANALYSIS_ERROR];
	struct options o;
	struct analysis a;
	FILE *f;

	if (!size)
		return 0;
	if (options_parse(&o, n, words, error) || analysis_open(&a, &o, NULL))
		abort();
	f = fmemopen((void *)data, size, "r");
	feed_file(f, &a.codes, trace_feed, &a.trace, error, sizeof(error));
	fclose(f);
	analysis_finish(&a, false);
	analysis_close(&a);
	return 0;
}
