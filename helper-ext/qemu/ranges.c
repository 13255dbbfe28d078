/* SPDX-License-Identifier: MIT */
/* ranges.c - see ranges.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

static void add_mapped(struct ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end || r->nmapped == RANGES_MAPPED)
		return;
	r->mapped[r->nmapped].start = start;
	r->mapped[r->nmapped].end = end;
	r->nmapped++;
}

/* Reads NUMBER up to the character `stop`. */
static const char *read_number(const char *text, char stop, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 16);
	return errno || end == text || *end != stop || *text == '-' ? NULL : end + 1;
}

#define WORD_MAX (PATH_MAX + 64u)

/* A copy that ends where the word ends. */
static bool copy_word(char *copy, const char *text, size_t size)
{
	if (size >= WORD_MAX)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return true;
}

int ranges_of_file(const char *text, size_t size, uint64_t *a, uint64_t *b, char *file)
{
	char copy[WORD_MAX];
	const char *rest = copy_word(copy, text, size) ? read_number(copy, '/', a) : NULL;

	rest = rest ? read_number(rest, '@', b) : NULL;
	if (!rest)
		return -EINVAL;
	return realpath(rest, file) ? 0 : -ENOENT;
}

static bool read_addresses(struct range *to, const char *text, size_t size)
{
	char copy[WORD_MAX];
	const char *rest = copy_word(copy, text, size) ? read_number(copy, '-', &to->start) : NULL;

	return rest && read_number(rest, '\0', &to->end) && to->start < to->end;
}

int ranges_add(struct ranges *r, const char *text, size_t size)
{
	struct range *to = &r->given[r->ngiven];
	int err = 0;

	if (r->ngiven == RANGES_MAX)
		return -ENOSPC;
	if (read_addresses(to, text, size)) {
		to->file[0] = '\0';
		add_mapped(r, to->start, to->end);
	} else {
		err = ranges_of_file(text, size, &to->start, &to->end, to->file);
		err = !err && !to->end ? -EINVAL : err;
		to->end += to->start;
	}
	r->ngiven += !err;
	return err;
}

void ranges_map(struct ranges *r, uint64_t start, uint64_t size, uint64_t offset, const char *file)
{
	for (unsigned i = 0; i < r->ngiven; i++) {
		const struct range *g = &r->given[i];
		uint64_t from = g->start > offset ? g->start : offset;
		uint64_t to = g->end < offset + size ? g->end : offset + size;

		if (from < to && strcmp(g->file, file) == 0)
			add_mapped(r, start + (from - offset), start + (to - offset));
	}
}

void ranges_text(const struct ranges *r, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < r->ngiven && used < size; i++)
		if (r->given[i].file[0])
			used += (size_t)snprintf(text + used, size - used, "%sfilter %#" PRIx64 "/%#" PRIx64 "@%s",
						 used ? "," : "", r->given[i].start,
						 r->given[i].end - r->given[i].start, r->given[i].file);
	if (used >= size)
		text[0] = '\0';
}
