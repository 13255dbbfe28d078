/* SPDX-License-Identifier: MIT */
/* tar.h - heads of files in a tar (POSIX ustar): plain files without a folder of their own, with short names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TAR_BLOCK     512u
#define TAR_NAME_MOST 99u
#define TAR_SIZE_MOST ((1ull << 33) - 1) /* 11 octal digits */

/* The head, TAR_BLOCK bytes, of a file of `size` bytes. The caller has checked name and size. */
void tar_put(uint8_t *block, const char *name, uint64_t size, time_t changed);

/* The bytes that make n a whole number of blocks. */
static inline size_t tar_padding(uint64_t n)
{
	return -n % TAR_BLOCK;
}

/* Name, in name[TAR_NAME_MOST + 1], and size of the file whose head this is. False: it is none of a plain file. */
bool tar_get(const uint8_t *block, char *name, uint64_t *size);
