// SPDX-License-Identifier: MIT
/*
 * fuzz_words.c - any 64-bit words from any threads, with any code table beside them.
 *
 * Input: a byte with the length of the table in units of 64 bytes, the table, then 10 bytes a word:
 * thread, time that went by, word. The table is that of process 1; process 2 has none.
 *
 * Words are read one by one, each with a sample; and in runs, without samples where none is needed (thread_quick.h).
 * The summary of both must be the same.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "json_mutator.h"
#include "shared/marker.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/ocular-fuzz-XXXXXX";
enum file {
	TABLE,
	ONE_BY_ONE, /* summaries */
	IN_RUNS,
	FILES,
};
static char paths[FILES][sizeof(dir) + 16];

static void remove_files(void)
{
	for (unsigned i = 0; i < FILES; i++)
		unlink(paths[i]);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		abort();
	snprintf(paths[TABLE], sizeof(paths[TABLE]), "%s/codes-1.jsonl", dir);
	snprintf(paths[ONE_BY_ONE], sizeof(paths[ONE_BY_ONE]), "%s/one", dir);
	snprintf(paths[IN_RUNS], sizeof(paths[IN_RUNS]), "%s/runs", dir);
	atexit(remove_files);
	return 0;
}

static void write_table(const uint8_t *data, size_t size)
{
	int fd = open(paths[TABLE], O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static bool is_gap(const uint8_t *data)
{
	return data[0] & 0x80;
}

/* The code of an event has a low id: what has a high one takes memory for all below, and nothing but time here. */
static uint64_t with_low_id(uint64_t bits)
{
	uint64_t op = bits >> MARKER_OP_SHIFT, high = (MARKER_CODE_MAX & ~0xfffull) << MARKER_CODE_SHIFT;

	return op >= OP_EVENT_FIRST && op <= OP_EVENT_LAST ? bits & ~high : bits;
}

static struct word word_at(const uint8_t *data, uint64_t time)
{
	struct word w = { 1 + (data[0] & 1), data[0] >> 1 & 3, time + data[1], (time + data[1]) * 3, 0 };

	memcpy(&w.bits, data + 2, sizeof(w.bits));
	w.bits = with_low_id(w.bits);
	return w;
}

static void feed_one_by_one(struct decoder *d, const uint8_t *data, size_t size)
{
	struct word w = { .time = 1000000 };

	for (; size >= 10; data += 10, size -= 10) {
		w = word_at(data, w.time);
		if (is_gap(data) ? decode_gap(d, w.pid, w.tid) : decode_word(d, &w))
			return;
	}
}

static int end_run(struct decoder *d, struct words *to, const struct word_run *run)
{
	to->n = 0;
	return run->n ? decode_words(d, run, to, 0, 0) : 0;
}

static void feed_in_runs(struct decoder *d, const uint8_t *data, size_t size)
{
	static struct words to;
	struct word_run run = { 0 };
	struct word w = { .time = 1000000 };
	int err = 0;

	for (; size >= 10 && !err; data += 10, size -= 10) {
		w = word_at(data, w.time);
		if (run.pid != w.pid || run.tid != w.tid || is_gap(data) || run.n == WORDS_MAX) {
			err = end_run(d, &to, &run);
			run = (struct word_run){ w.pid, w.tid, 0, RUN_WORDS };
		}
		if (!err && is_gap(data)) {
			err = decode_gap(d, w.pid, w.tid);
			continue;
		}
		to.bits[run.n] = w.bits;
		to.ns[run.n] = w.time;
		to.cycles[run.n++] = w.cycles;
	}
	if (!err)
		end_run(d, &to, &run);
}

typedef void (*feed_fn)(struct decoder *d, const uint8_t *data, size_t size);

static void analyse(feed_fn feed, unsigned nwords, char **words, const uint8_t *data, size_t size)
{
	char error[ANALYSIS_ERROR];
	struct options o;
	struct analysis a;

	if (options_parse(&o, nwords, words, error) || analysis_open(&a, &o, dir))
		abort();
	feed(&a.decoder, data, size);
	analysis_finish(&a, true);
	analysis_close(&a);
}

/* Both files are there, or neither, and what is in them is the same. */
static bool are_same(const char *a, const char *b)
{
	FILE *one = fopen(a, "r"), *other = fopen(b, "r");
	bool same = !one == !other;

	for (int c = 0; same && one && c != EOF;) {
		c = fgetc(one);
		same = c == fgetc(other);
	}
	if (one)
		fclose(one);
	if (other)
		fclose(other);
	return same;
}

static void compare_ways(const uint8_t *data, size_t size)
{
	char one[sizeof(paths[0]) + 16], runs[sizeof(paths[0]) + 16];

	unlink(paths[ONE_BY_ONE]);
	unlink(paths[IN_RUNS]);
	snprintf(one, sizeof(one), "summary=%s", paths[ONE_BY_ONE]);
	snprintf(runs, sizeof(runs), "summary=%s", paths[IN_RUNS]);
	analyse(feed_one_by_one, 3, (char *[]){ one, "perfetto=/dev/null", "events=/dev/null" }, data, size);
	analyse(feed_in_runs, 1, (char *[]){ runs }, data, size);
	if (!are_same(paths[ONE_BY_ONE], paths[IN_RUNS]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length;

	if (!size)
		return 0;
	length = data[0] * 64u < size - 1 ? data[0] * 64u : size - 1;
	write_table(data + 1, length);
	compare_ways(data + 1 + length, size - 1 - length);
	return 0;
}

/* --- changes ------------------------------------------------------------------------------------------ */

/* Fields of a word, most of which other words know: op, code, offset, arg; kind and payload of an extension. */
static void change_word(struct mutated *m, size_t at)
{
	static const struct {
		uint8_t shift, bits;
	} fields[] = {
		{ MARKER_OP_SHIFT, 5 },
		{ MARKER_OP_SHIFT, 5 },
		{ MARKER_CODE_SHIFT, 4 },
		{ MARKER_OFFSET_SHIFT, 8 },
		{ MARKER_OFFSET_SHIFT, 20 },
		{ 0, 8 },
		{ MARKER_KIND_SHIFT, 4 },
		{ MARKER_LABEL_SHIFT, 4 },
		{ 0, 20 },
		{ 20, 8 },
	};
	unsigned which = mutator_draw(m, sizeof(fields) / sizeof(fields[0]));
	uint64_t word, mask = ((1ull << fields[which].bits) - 1) << fields[which].shift;

	memcpy(&word, m->bytes + at, sizeof(word));
	word = (word & ~mask) | (mutator_value(m, word >> fields[which].shift) << fields[which].shift & mask);
	memcpy(m->bytes + at, &word, sizeof(word));
}

/* Each thread's words count on, so that none looks lost. */
static void count_words(struct mutated *m, size_t from)
{
	uint8_t seq[8] = { 0 };

	for (size_t at = from; at + 10 <= m->size; at += 10) {
		uint8_t *n = &seq[m->bytes[at] & 7];
		uint64_t word;

		memcpy(&word, m->bytes + at + 2, sizeof(word));
		word &= ~((uint64_t)MARKER_SEQ_MASK << MARKER_SEQ_SHIFT);
		word |= (uint64_t)((*n)++ & MARKER_SEQ_MASK) << MARKER_SEQ_SHIFT;
		memcpy(m->bytes + at + 2, &word, sizeof(word));
	}
}

static void find_words(struct mutated *m, size_t from)
{
	m->nrecords = 0;
	for (; m->nrecords < RECORDS_MAX && from + 10 <= m->size; from += 10)
		m->records[m->nrecords++] = from;
	m->records[m->nrecords] = from;
}

static void change_words(struct mutated *m, size_t from)
{
	for (unsigned n = 1 + mutator_draw(m, 4); n; n--) {
		unsigned what = mutator_draw(m, 8), i;

		find_words(m, from);
		if (!m->nrecords)
			return;
		i = mutator_draw(m, m->nrecords);
		if (!what)
			mutator_drop(m, i);
		else if (what < 3)
			mutator_repeat(m, i);
		else if (what == 3)
			m->bytes[m->records[i] + mutator_draw(m, 2)] = mutator_value(m, 0);
		else
			change_word(m, m->records[i] + 2);
	}
	if (mutator_draw(m, 4))
		count_words(m, from);
}

/* The table, which is filled up to whole units again. */
static void change_table(struct mutated *m, size_t length)
{
	static uint8_t copy[UINT8_MAX * 64];
	struct mutated table = { .bytes = copy, .size = length, .max = sizeof(copy), .state = m->state };

	memcpy(copy, m->bytes + 1, length);
	while (table.size && copy[table.size - 1] == '\n')
		table.size--;
	json_change(&table);
	for (; table.size % 64; table.size++)
		copy[table.size] = '\n';
	mutator_replace(m, 1, 1 + length, copy, table.size);
	m->bytes[0] = table.size / 64;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };
	size_t length = size ? data[0] * 64u : 0;

	if (length + 1 > size || !mutator_draw(&m, 8))
		return LLVMFuzzerMutate(data, size, max_size);
	if (mutator_draw(&m, 4) || max_size - size < 2048)
		change_words(&m, 1 + length);
	else
		change_table(&m, length);
	return m.size;
}
