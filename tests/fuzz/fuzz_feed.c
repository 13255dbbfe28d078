// SPDX-License-Identifier: MIT
/*
 * fuzz_feed.c - any bytes as an events text: through stacks, loops and every sink.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "feed.h"
#include "mutator.h"

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

/* --- changes: of lines, and of their columns ---------------------------------------------------------- */

static void find_lines(struct mutated *m)
{
	size_t at = 0;

	m->nrecords = 0;
	while (m->nrecords < RECORDS_MAX && at < m->size) {
		const uint8_t *end = memchr(m->bytes + at, '\n', m->size - at);

		m->records[m->nrecords++] = at;
		at = end ? (size_t)(end + 1 - m->bytes) : m->size;
	}
	m->records[m->nrecords] = at;
}

/* Where a column of a line begins and, before its tab or the line's end, ends. */
static size_t find_column(const struct mutated *m, unsigned line, unsigned column, size_t *end)
{
	size_t at = m->records[line], last = m->records[line + 1];

	for (; column && at < last; at++)
		column -= m->bytes[at] == '\t';
	for (*end = at; *end < last && m->bytes[*end] != '\t' && m->bytes[*end] != '\n';)
		(*end)++;
	return at;
}

/* Gets what another line has in that column: its event, time, thread, function, offset. */
static void copy_column(struct mutated *m, unsigned line)
{
	unsigned column = mutator_draw(m, 12);
	size_t end, from = find_column(m, mutator_draw(m, m->nrecords), column, &end), n = end - from, to;
	uint8_t copy[256];

	if (n > sizeof(copy))
		return;
	memcpy(copy, m->bytes + from, n);
	to = find_column(m, line, column, &end);
	mutator_replace(m, to, end, copy, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static void (*const ways[])(struct mutated * m, unsigned i) = { copy_column, copy_column, mutator_drop,
									mutator_repeat };
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };

	if (!mutator_draw(&m, 6))
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned n = 1 + mutator_draw(&m, 6); n && m.size; n--) {
		find_lines(&m);
		ways[mutator_draw(&m, sizeof(ways) / sizeof(ways[0]))](&m, mutator_draw(&m, m.nrecords));
	}
	return m.size;
}
