/* SPDX-License-Identifier: MIT */
/*
 * perf_file.h - a perf.data: its events, and its records one after the other.
 *
 * Reads any perf.data of this machine's endianness, complete or cut short. Writes nothing.
 */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "perf_layout.h"
#include "perf_unzip.h"
#include "shared/perfcheck.h"
#include "shared/read_ahead.h"

#define PERF_FILE_ERROR (sizeof(((struct perfcheck *)0)->finding) + 64)

/* Records of the file, one behind the other, that need not be read again. */
struct perf_known {
	uint64_t at, end;
};

struct perf_file {
	int fd;
	struct perfcheck check; /* findings about the file; check.data_size bytes of it are read */
	uint64_t data;		/* where records begin */
	struct perf_attr *attrs;
	uint32_t nattrs;
	struct map ids; /* sample id -> its struct perf_attr */
	struct perf_known *known;
	uint32_t nknown, known_room;
};

/* 0; -errno: cannot be read; -EPROTO: not usable, with a line in error[PERF_FILE_ERROR]. */
int perf_file_open(struct perf_file *f, const char *path, char *error);

/* The same file, for another thread, which need not check it. 0 or -errno. */
int perf_file_again(struct perf_file *f, const struct perf_file *of);

void perf_file_close(struct perf_file *f);

/*
 * From now on readers pass over the record from `at` to `end`, with its payload. To be called in the order of the file.
 * 0 or -ENOMEM.
 */
int perf_file_know(struct perf_file *f, uint64_t at, uint64_t end);

/* The event that a record's id belongs to; the first one if there are no ids. */
const struct perf_attr *perf_file_attr(const struct perf_file *f, uint64_t id);

struct perf_records {
	const struct perf_file *file;
	bool unpack; /* return the records in COMPRESSED records, not these themselves */
	uint64_t at, end;
	uint64_t payload; /* of the last record, from `at` */
	uint32_t known;	  /* how many of the file's `known` begin before `at` */
	struct perf_unzip zip;
	struct read_ahead ahead;
};

void perf_records_init(struct perf_records *r, const struct perf_file *f, bool unpack);

/*
 * The next record, valid until the next call. An AUXTRACE's payload then begins at r->at. 1; 0: there are no more;
 * -errno; -EBADMSG: it is damaged, or was cut, or compressed ones are.
 */
int perf_records_next(struct perf_records *r, const struct perf_record **rec);

/* The file has grown: takes its new end from its header, or where it ends before that. 0 or -errno. */
int perf_records_more(struct perf_records *r);

void perf_records_free(struct perf_records *r);
