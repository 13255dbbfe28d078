// SPDX-License-Identifier: MIT
/*
 * fuzz_diff.c - any two texts as summaries: read, compared, and written in every form.
 *
 * Input: the one text, a NUL, the other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diff/diff_out.h"
#include "json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool held)
{
	if (!held)
		abort();
}

static int read_side(struct diff_side *s, const uint8_t *text, size_t n)
{
	char path[32], error[DIFF_ERROR] = "";
	int fd = memfd_create("summary", 0), err;

	check(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = diff_read(s, path, "summary", error);
	check(!err || *error);
	close(fd);
	return err;
}

static void write_all(FILE *f, struct diff_report *r)
{
	diff_text(f, r);
	check(!diff_markdown(f, r) && !diff_json(f, r) && !diff_html(f, r));
}

static void compare(FILE *f, struct diff_side *a, struct diff_side *b)
{
	struct diff_report r = {
		.a = a, .b = b, .rules = { .fail_over = 0.02, .share = 0.01 }, .scale = 1, .rows = 20
	};
	struct diff diff;

	r.all = a->n[DIFF_LOOPS] & 1;
	r.cpu = diff_to_cpu(a, b);
	check(!diff_compare(&diff, a, b, r.scale, &r.rules));
	r.totals_over = diff_totals(a, b, r.scale, &r.rules, r.totals);
	r.counts = diff_counts(a, b, &r.ncounts);
	r.diff = &diff;
	check(r.counts);
	write_all(f, &r);
	free(r.counts);
	diff_free(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size;
	struct diff_side a, b;
	FILE *f;

	if (!nul || read_side(&a, data, n))
		return 0;
	if (!read_side(&b, nul + 1, size - n - 1)) {
		f = fopen("/dev/null", "w");
		check(f);
		compare(f, &a, &b);
		fclose(f);
		diff_side_free(&b);
	}
	diff_side_free(&a);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };

	if (!mutator_draw(&m, 16))
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned n = 1 + mutator_draw(&m, 4); n; n--)
		json_change(&m);
	return m.size;
}
