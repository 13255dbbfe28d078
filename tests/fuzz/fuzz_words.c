// SPDX-License-Identifier: MIT
/*
 * fuzz_words.c - any 64-bit words from any threads, with any code table beside them.
 *
 * Input: a byte with the length of the table in units of 64 bytes, the table, then 10 bytes a word:
 * thread, time that went by, word. The table is that of process 1; process 2 has none.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/ocular-fuzz-XXXXXX";
static char path[sizeof(dir) + 16];

static void remove_table(void)
{
	unlink(path);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/codes-1.jsonl", dir);
	atexit(remove_table);
	return 0;
}

static void write_table(const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void feed_words(struct analysis *a, const uint8_t *data, size_t size)
{
	struct word w = { .time = 1000000 };

	for (; size >= 10; data += 10, size -= 10) {
		w.pid = 1 + (data[0] & 1);
		w.tid = data[0] >> 1 & 3;
		w.time += data[1];
		w.cycles = w.time * 3;
		memcpy(&w.bits, data + 2, sizeof(w.bits));
		if (data[0] & 0x80 ? decode_gap(&a->decoder, w.pid, w.tid) : decode_word(&a->decoder, &w))
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *words[] = { "perfetto=/dev/null", "summary=/dev/null", "events=/dev/null" };
	char error[ANALYSIS_ERROR];
	struct options o;
	struct analysis a;
	size_t length;

	if (!size)
		return 0;
	length = data[0] * 64u < size - 1 ? data[0] * 64u : size - 1;
	write_table(data + 1, length);
	if (options_parse(&o, 3, words, error) || analysis_open(&a, &o, dir))
		abort();
	feed_words(&a, data + 1 + length, size - 1 - length);
	analysis_finish(&a, true);
	analysis_close(&a);
	return 0;
}
