/* SPDX-License-Identifier: MIT */
/*
 * npz.h - arrays for numpy.load(): a ZIP archive of .npy files, not compressed.
 *
 * Formats: numpy.lib.format ("Format Version 1.0"); PKWARE's APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16. Numbers are in this
 * machine's byte order, and each array's header says which. Errors stick to `out`; so does -EFBIG, of 4 GB or more.
 */
#pragma once

#include "base/out.h"

#define NPZ_MOST 16 /* arrays */

struct npz_member {
	const char *name;
	uint32_t crc, size, at; /* bytes; where its header is */
};

/* Zeroed except for `out`. */
struct npz {
	struct out *out;
	uint64_t at; /* bytes written */
	uint32_t n;
	struct npz_member members[NPZ_MOST];
};

/* 'u': an unsigned number of 1, 2, 4 or 8 bytes; 'U': text of width/4 code points, padded by zeros. */
struct npz_type {
	char kind;
	uint32_t width; /* bytes */
};

/* Adds rows x columns elements, by rows; columns 0: one dimension. The name must outlive z. */
void npz_array(struct npz *z, const char *name, struct npz_type type, uint32_t rows, uint32_t columns,
	       const void *elements);

/* The archive is complete. */
void npz_end(struct npz *z);
