/* SPDX-License-Identifier: MIT */
/*
 * ranges.h - the address filter: which code is traced (SDM, "Filtering by IP").
 *
 * A range is written START-END, addresses in the program, or OFFSET/SIZE@FILE as in perf's filter option: bytes of a
 * file, wherever it is mapped. Numbers are hexadecimal. As on a processor, a PTWRITE outside of all ranges leaves no
 * packet.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANGES_MAX    8u  /* as given */
#define RANGES_MAPPED 32u /* the resulting addresses */

struct range {
	uint64_t start, end; /* addresses, or offsets in the file; end is outside */
	char file[PATH_MAX]; /* "": addresses */
};

struct ranges {
	struct range given[RANGES_MAX];
	unsigned ngiven; /* 0: everything is traced */
	struct {
		uint64_t start, end;
	} mapped[RANGES_MAPPED];
	unsigned nmapped;
};

/* Takes a range of `size` bytes. -EINVAL: it is not a range; -ENOSPC: too many; -ENOENT: no such file. */
int ranges_add(struct ranges *r, const char *text, size_t size);

/* Reads A/B@FILE of `size` bytes; file has room for PATH_MAX. Errors as above. */
int ranges_of_file(const char *text, size_t size, uint64_t *a, uint64_t *b, char *file);

/* The program has this part of this file mapped. */
void ranges_map(struct ranges *r, uint64_t start, uint64_t size, uint64_t offset, const char *file);

static inline bool ranges_hold(const struct ranges *r, uint64_t ip)
{
	for (unsigned i = 0; i < r->nmapped; i++)
		if (ip >= r->mapped[i].start && ip < r->mapped[i].end)
			return true;
	return !r->ngiven;
}

/* The ranges of files as perf writes them into a recording; "" if there are none. */
void ranges_text(const struct ranges *r, char *text, size_t size);
