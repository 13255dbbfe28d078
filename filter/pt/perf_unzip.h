/* SPDX-License-Identifier: MIT */
/*
 * perf_unzip.h - records of `perf record -z`: one zstd stream, cut into COMPRESSED records without regard
 * to the records in it.
 *
 * Uses libzstd, as perf does; the format has no other usable reader.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "perf_layout.h"

struct perf_unzip {
	ZSTD_DStream *stream; /* made on first use */
	uint8_t *bytes;	      /* decompressed, from `head` to `end` */
	size_t head, end, room;
};

/* Decompresses more. 0, -ENOMEM, or -EBADMSG: not zstd. Moves records already returned. */
int perf_unzip_put(struct perf_unzip *u, const void *data, size_t size);

/* The next complete record, NULL if more is needed first. -EBADMSG in *err: that is not a record. */
const struct perf_record *perf_unzip_next(struct perf_unzip *u, int *err);

void perf_unzip_free(struct perf_unzip *u);
