// SPDX-License-Identifier: MIT
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "code/origin.h"

struct order {
	const struct codes *codes;
	joined_key *key;
	struct map origins; /* const struct code * -> 1 + enum origin, of those that were asked for */
};

/* What a program evaluates, in hundreds, is all of one place, and compared a dozen times each. */
static int origin_at(struct order *o, const struct code *code)
{
	uintptr_t known = (uintptr_t)map_get(&o->origins, (uintptr_t)code);

	if (!known) {
		known = 1 + origin_of(o->codes, code);
		map_put(&o->origins, (uintptr_t)code, (void *)known); /* without memory it is found again */
	}
	return known;
}

static int by_code(struct order *o, const struct code *a, const struct code *b)
{
	if (a == b || !a || !b)
		return !!a - !!b;
	return code_place_order(a, b) ?: origin_at(o, a) - origin_at(o, b); /* dataclasses' look alike */
}

static int by_place(const void *left, const void *right, struct order *o)
{
	int order = by_code(o, *(const struct code *const *)left, *(const struct code *const *)right);

	return order || !o->key ? order : o->key(left, right);
}

/* Then by process and id, so that the order never depends on the sort. */
static int by_place_and_process(const void *left, const void *right, void *by)
{
	const struct code *a = *(const struct code *const *)left, *b = *(const struct code *const *)right;
	int order = by_place(left, right, by);

	return order || !a || !b ? order : code_order(a, b);
}

static void move(void *to, void *row, size_t size)
{
	if (to == row)
		return;
	memcpy(to, row, size);
	memset(row, 0, size);
}

ssize_t joined_rows(void *rows, size_t n, size_t size, const struct codes *codes, joined_key *key, joined_add *add)
{
	struct order by = { .codes = codes, .key = key };
	char *last = rows, *end = last + n * size;
	size_t left = n != 0;
	int err = 0;

	qsort_r(rows, n, size, by_place_and_process, &by);
	for (char *row = last + size; row < end && !err; row += size) {
		if (by_place(last, row, &by)) {
			last = (char *)rows + left++ * size;
			move(last, row, size);
			continue;
		}
		err = add(last, row);
		memset(row, 0, size);
	}
	map_free(&by.origins);
	return err ? err : (ssize_t)left;
}
