/* SPDX-License-Identifier: MIT */
/*
 * numbered_file.h - a file of the numbers 0, 1, 2, ... in eight bytes each: what is read from it tells where it was.
 * No two places have the same sixteen bytes.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

static inline uint8_t numbered_byte(uint64_t at)
{
	return (uint8_t)(at / 8 >> at % 8 * 8);
}

/* A temporary one of so many bytes, for fclose(). NULL: it could not be made. */
static inline FILE *numbered_file(uint64_t size)
{
	FILE *f = tmpfile();

	for (uint64_t at = 0; f && at < size; at++)
		putc(numbered_byte(at), f);
	return f && !fflush(f) ? f : NULL;
}

/* The first of `size` bytes, which were at `at`, that is another; `size`: all are right. */
static inline size_t numbered_wrong(const uint8_t *bytes, uint64_t at, size_t size)
{
	size_t i = 0;

	while (i < size && bytes[i] == numbered_byte(at + i))
		i++;
	return i;
}
