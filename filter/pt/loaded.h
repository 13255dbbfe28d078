/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - a part of a file in memory.
 *
 * Copied if it is small: a third of the time of mapping it is saved, which the kernel spends on page tables, and threads of one
 * process map one after the other, but copy at once (docs/benchmarks.md). A large one is mapped, since a recording of
 * perf may have all of a trace in one part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes up to which a part is copied. A ring's parts have 256 KB at most (helper-ext/record), which fit into a cache. */
#define LOADED_COPIED (1u << 20)

struct loaded {
	uint8_t *copy; /* `room` bytes, kept for the next part */
	size_t room;
	uint8_t *map; /* `mapped` bytes; NULL: the part is copied, or there is none */
	size_t mapped;
};

/*
 * *bytes: `size` bytes, at least one, of `fd` at `at`, valid until the next call. 0 or -errno; -EIO: a small one is not
 * all there. Of a large one the caller knows that it is: what is not there cannot be read (SIGBUS).
 */
int loaded_get(struct loaded *l, int fd, uint64_t at, size_t size, const uint8_t **bytes);

/* Gives all memory back; it can be used again. */
void loaded_drop(struct loaded *l);
