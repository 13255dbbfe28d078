/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - a part of a file in memory.
 *
 * A small one is copied, as no page tables change then. That takes a tenth to a quarter less time than mapping it, and
 * two threads of a process copy at the same time, but map one after the other (docs/benchmarks.md). A large one is
 * mapped, since perf may write a whole trace as one part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes up to which a part is copied. Those of Ocular's recorder have 256 KB at most, which fit into a cache. */
#define LOADED_COPIED (1u << 20)

struct loaded {
	uint8_t *copy; /* `room` bytes, kept for the next part */
	size_t room;
	uint8_t *map; /* `mapped` bytes; NULL: the part is copied, or there is none */
	size_t mapped;
};

/*
 * *bytes: `size` bytes, at least one, of `fd` at `at`, valid until the next call. 0 or -errno; -ENODATA: a small one is
 * not all there. Of a large one the caller knows that it is: what is not there cannot be read (SIGBUS).
 */
int loaded_get(struct loaded *l, int fd, uint64_t at, size_t size, const uint8_t **bytes);

/* Gives all memory back; it can be used again. */
void loaded_drop(struct loaded *l);
