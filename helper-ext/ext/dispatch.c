/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - see dispatch.h.
 *
 * The table is recognized by its contents: 256 pointers into the interpreter's code, where all numbers that are not
 * opcodes share one, no opcode has that one, and opcodes have different ones. The last rule excludes 3.15's second
 * table, in which all opcodes share one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "sites.h"
#include "tails.h"

/* CALL_FUNCTION_EX and its instrumented form share a handler, compilers may merge a few more. */
#define DISTINCT_PERCENT 90

/* An evaluation function has one to three parts; with tail calls each opcode has a function. */
#define PARTS_MOST 16

/* Functions compiled together have only padding between them: compilers align by 16 to 64. */
#define PADDING_MOST 64

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool are_distinct(const uint64_t *table, const bool *used)
{
	uint64_t sorted[DISPATCH_OPCODES];
	size_t n = 0, distinct = 0;

	for (int op = 0; op < DISPATCH_OPCODES; op++)
		if (used[op])
			sorted[n++] = table[op];
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++)
		distinct += !i || sorted[i] != sorted[i - 1];
	return distinct * 100 >= n * DISTINCT_PERCENT;
}

static bool is_table(const uint64_t *table, const bool *used, int unused)
{
	for (int op = 0; op < DISPATCH_OPCODES; op++)
		if ((table[op] == table[unused]) == used[op])
			return false;
	return are_distinct(table, used);
}

/*
 * Pointers into code in a row; a table may begin wherever 256 of them follow. Whole segments are read, gaps between
 * variables included: AddressSanitizer must not object.
 */
__attribute__((no_sanitize_address)) static size_t search(const struct image *image, const struct range *in,
							  const bool *used, int unused, const uint64_t **found)
{
	const uint64_t *p = (const uint64_t *)((in->start + 7) & ~7ull);
	const uint64_t *end = (const uint64_t *)(in->end & ~7ull);
	size_t run = 0, hits = 0;

	for (; p < end; p++) {
		run = image_is_code(image, *p) ? run + 1 : 0;
		if (run < DISPATCH_OPCODES || !is_table(p - 255, used, unused))
			continue;
		*found = p - 255;
		hits++;
	}
	return hits;
}

static int fail(char *error, int err, const char *why, const struct image *image)
{
	snprintf(error, DISPATCH_ERROR, "%s in %s", why,
		 image->name[0] ? image->name : "the interpreter's program file");
	return err;
}

/* False: there is no room. */
static bool add_code(struct dispatch *d, const struct range *r)
{
	size_t i = 0;

	while (i < d->ncode && d->code[i].start < r->start)
		i++;
	if (i < d->ncode && d->code[i].start == r->start)
		return true;
	if (d->ncode == DISPATCH_RANGES)
		return false;
	memmove(&d->code[i + 1], &d->code[i], (d->ncode - i) * sizeof(*r));
	d->code[i] = *r;
	d->ncode++;
	return true;
}

/* Functions whose code is not all in one place have several parts (`.cold`). True: each handler begins one. */
static bool find_code(struct dispatch *d, const struct image *image)
{
	bool begins = true;
	struct range r;

	for (int op = 0; op < DISPATCH_OPCODES; op++) {
		if (!image_function(image, d->targets[op], &r)) {
			d->ncode = 0;
			return false;
		}
		begins = add_code(d, &r) && r.start == d->targets[op] && begins;
	}
	return begins;
}

/* What the functions jump to dispatches as well, and so on. False: there are too many. */
static bool find_tails(struct dispatch *d, const struct image *image)
{
	size_t before;

	do {
		before = d->ncode;
		for (size_t i = 0; i < d->ncode; i++) {
			struct range from = d->code[i], to;
			uint64_t at = from.start;

			while (tails_next(image, &from, TAILS_JUMP, &at, &to))
				if (!add_code(d, &to))
					return false;
		}
	} while (d->ncode != before);
	return true;
}

static void join_neighbours(struct dispatch *d)
{
	size_t n = 0;

	for (size_t i = 1; i < d->ncode; i++)
		if (d->code[i].start <= d->code[n].end + PADDING_MOST)
			d->code[n].end = d->code[i].end;
		else
			d->code[++n] = d->code[i];
	d->ncode = n + 1;
}

/* A compiler may have made a copy of the function that dispatches first, for its caller (`.constprop`). */
static bool add_called(struct dispatch *d, const struct image *image, const struct range *from)
{
	uint64_t at = from->start;
	struct range to;

	while (tails_next(image, from, TAILS_CALL, &at, &to))
		if (sites_dispatches(&to) && !add_code(d, &to))
			return false;
	return true;
}

/* The function that begins frames: CPython 3.14 allows it to dispatch first itself. */
static bool add_entry(struct dispatch *d, const struct image *image)
{
	struct range entry, part;
	uint64_t at;

	if (!image->entry || !image_function(image, image->entry, &entry))
		return true;
	if (!add_code(d, &entry) || !add_called(d, image, &entry))
		return false;
	for (at = entry.start; tails_next(image, &entry, TAILS_JUMP, &at, &part);)
		if (!add_code(d, &part) || !add_called(d, image, &part))
			return false;
	return true;
}

static int find_functions(struct dispatch *d, const struct image *image, char *error)
{
	bool begins = find_code(d, image);

	if (d->ncode <= PARTS_MOST)
		return 0;
	if (!begins)
		return fail(error, -ENOTSUP, "opcode handlers are in many functions and do not begin them", image);
	if (!add_entry(d, image) || !find_tails(d, image))
		return fail(error, -E2BIG, "opcode handlers jump to too many functions", image);
	join_neighbours(d);
	return 0;
}

/* False: there may be more. */
static bool find_again(struct dispatch *d)
{
	for (size_t i = 0; i < d->ncode; i++)
		d->nagain += sites_find(&d->code[i], d->again + d->nagain, DISPATCH_SITES - d->nagain);
	return d->nagain < DISPATCH_SITES;
}

int dispatch_find(struct dispatch *d, const struct image *image, const bool used[DISPATCH_OPCODES], char *error)
{
	const bool *free_number = memchr(used, false, DISPATCH_OPCODES);
	const uint64_t *table = NULL;
	size_t hits = 0;
	int err;

	*d = (struct dispatch){ 0 };
	if (!free_number)
		return fail(error, -EINVAL, "every number is an opcode, so the table of handlers cannot be recognized",
			    image);
	for (size_t i = 0; i < image->ndata; i++)
		hits += search(image, &image->data[i], used, (int)(free_number - used), &table);
	if (!hits)
		return fail(error, -ENOENT, "no table of opcode handlers was found", image);
	if (hits > 1)
		return fail(error, -ENOTUNIQ, "more than one table of opcode handlers", image);
	memcpy(d->targets, table, sizeof(d->targets));
	d->unused = table[free_number - used];
	err = find_functions(d, image, error);
	if (err)
		return err;
	return find_again(d) ? 0 : fail(error, -E2BIG, "too many handlers that dispatch twice", image);
}
