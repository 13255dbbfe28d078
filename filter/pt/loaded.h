/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - a part of a file, copied into memory.
 *
 * Mapping it takes a tenth to a half more time, threads of a process map one after the other (docs/benchmarks.md), and
 * a file that is cut meanwhile would end the program by SIGBUS.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct loaded {
	uint8_t *bytes;
	size_t room; /* bytes that there is memory for; it is kept for the next part */
};

/*
 * `size` bytes, at least one, of `fd` at `at` into l->bytes, instead of the last ones. 0 or -errno; -ENODATA: the file
 * does not have them.
 */
int loaded_get(struct loaded *l, int fd, uint64_t at, size_t size);

/* Gives the memory back; it can be used again. */
void loaded_drop(struct loaded *l);
