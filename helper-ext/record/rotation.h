/* SPDX-License-Identifier: MIT */
/*
 * rotation.h - a recording in several files, as `perf record --switch-output` writes it.
 *
 * The newest is perf.data; those before it are perf.data.TIMESTAMP beside it, in perf's form of the time at which they
 * were closed. All share the folder's code tables. If the number of files is limited, the oldest is removed, and with
 * it the tables of processes that ended before all kept files, unless a process forked from one of them has a table,
 * which refers to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#define ROTATION_NAME 40

/* When to begin a new file; all 0: never. */
struct rotation_limits {
	uint64_t bytes, ns;
	bool signal;
	uint32_t files; /* number of files kept, the newest included; 0: all */
};

struct rotated_name {
	char text[ROTATION_NAME];
};

struct ended {
	uint32_t pid, number; /* the file in which it ended */
};

struct rotation {
	struct rotated_name *closed; /* and kept, oldest first */
	size_t nclosed;
	struct ended *ended; /* processes whose tables are still there */
	size_t nended;
	uint32_t number;     /* of the newest file, from 0 */
	uint64_t begun_ns;   /* the newest file */
	uint64_t words;	     /* that all older files should have */
	struct timeval next; /* no file is named after an earlier time */
};

/* Must the newest file be closed? Never if it is empty. */
bool rotation_due(const struct rotation *p, const struct rotation_limits *limits, uint64_t bytes, uint64_t words,
		  uint64_t now_ns);

/* perf.data of the folder gets its final name. 0 or a negative errno. */
int rotation_close(struct rotation *p, int dirfd, uint64_t words, uint64_t now_ns, struct rotated_name *name);

/* Removes what exceeds `limits`. */
void rotation_trim(struct rotation *p, int dirfd, const struct rotation_limits *limits);

/* A process has ended; one with that pid exists (again). */
void rotation_ended(struct rotation *p, uint32_t pid);
void rotation_met(struct rotation *p, uint32_t pid);

void rotation_free(struct rotation *p);
