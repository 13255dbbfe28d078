// SPDX-License-Identifier: MIT
/* A buffer that keeps the beginning of a record until the rest comes. */
#include "perf_unzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static int make_room(struct perf_unzip *u, size_t more)
{
	if (u->head)
		memmove(u->bytes, u->bytes + u->head, u->end - u->head);
	u->end -= u->head;
	u->head = 0;
	if (u->room - u->end >= more)
		return 0;
	if (!ARRAY_RESIZE(u->bytes, u->end + more))
		return -ENOMEM;
	u->room = u->end + more;
	return 0;
}

int perf_unzip_put(struct perf_unzip *u, const void *data, size_t size)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t step = ZSTD_DStreamOutSize(), status;
	ZSTD_outBuffer out;

	if (!u->stream)
		u->stream = ZSTD_createDStream();
	do {
		if (!u->stream || make_room(u, step))
			return -ENOMEM;
		out = (ZSTD_outBuffer){ u->bytes + u->end, step, 0 };
		status = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(status))
			return -EBADMSG;
		u->end += out.pos;
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

const struct perf_record *perf_unzip_next(struct perf_unzip *u, int *err)
{
	const struct perf_record *rec;
	size_t left = u->end - u->head;

	*err = 0;
	if (left < sizeof(*rec))
		return NULL;
	rec = (const void *)(u->bytes + u->head);
	if (rec->size < sizeof(*rec) || rec->size % 8) {
		*err = -EBADMSG;
		return NULL;
	}
	if (left < rec->size)
		return NULL;
	u->head += rec->size;
	return rec;
}

void perf_unzip_free(struct perf_unzip *u)
{
	ZSTD_freeDStream(u->stream);
	free(u->bytes);
}
