/* SPDX-License-Identifier: MIT */
/* recording.h - which recording is this process reading? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct recording {
	char *dir, *file; /* its folder, and its name there; NULL: not known */
	uint64_t size;	  /* in bytes */
	bool cut;	  /* ocular-fsck has repaired it */
};

/*
 * perf does not tell a dlfilter which file it reads, so this looks in /proc/self/fd for the open file that begins like
 * a perf.data. All of *r is 0 if perf reads a pipe, or there is no /proc.
 */
void recording_find(struct recording *r);
void recording_free(struct recording *r);
