// SPDX-License-Identifier: MIT
/* test_perf_file.c - the records of a file, with and without those that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "pt/perf_file.h"

#define PAYLOAD 5000
#define LOST	2u

/* T: a trace and its payload; L: another record. */
static const char kinds[] = "LTTLLTLTTT";

static void write_record(FILE *f, char kind)
{
	static const uint8_t payload[PAYLOAD];
	const struct perf_record lost = { LOST, 0, sizeof(lost) };
	const struct perf_auxtrace trace = { .header = { PERF_AUXTRACE, 0, sizeof(trace) }, .size = PAYLOAD };

	if (kind == 'L')
		fwrite(&lost, sizeof(lost), 1, f);
	else
		fwrite(&trace, sizeof(trace), 1, f);
	if (kind == 'T')
		fwrite(payload, sizeof(payload), 1, f);
}

static FILE *make(struct perf_file *file)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	for (const char *kind = kinds; *kind; kind++)
		write_record(f, *kind);
	assert_int_equal(fflush(f), 0);
	*file = (struct perf_file){ .fd = dup(fileno(f)), .check.data_size = (uint64_t)ftell(f) };
	return f;
}

/* All records in `read`, a letter each; those of traces are known from then on, if so wished. */
static void read_all(struct perf_file *file, char *read, bool know)
{
	static struct perf_records r;
	const struct perf_record *rec;
	int more;

	perf_records_init(&r, file, true);
	while ((more = perf_records_next(&r, &rec)) > 0) {
		bool trace = rec->type == PERF_AUXTRACE;

		*read++ = trace ? 'T' : 'L';
		if (trace && know)
			assert_int_equal(perf_file_know(file, r.at - rec->size, r.at + PAYLOAD), 0);
	}
	assert_int_equal(more, 0);
	*read = '\0';
	perf_records_free(&r);
}

static void test_known(void **state)
{
	struct perf_file file;
	char read[sizeof(kinds)];
	FILE *f = make(&file);

	(void)state;
	read_all(&file, read, false);
	assert_string_equal(read, kinds);
	read_all(&file, read, true);
	assert_string_equal(read, kinds);
	assert_int_equal(file.nknown, 3);
	read_all(&file, read, false);
	assert_string_equal(read, "LLLL");
	perf_file_close(&file);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
