/* SPDX-License-Identifier: MIT */
/* recording.h - which recording is this process reading? */
#ifndef OCULAR_RECORDING_H
#define OCULAR_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct recording {
	char *dir, *file; /* its folder, and its name there; NULL: not known */
	uint64_t size;	  /* in bytes */
	bool cut;	  /* ocular-fsck has repaired it */
};

/*
 * perf does not tell a dlfilter which file it reads, so the open file that begins as a perf.data is looked for in
 * /proc/self/fd. All of *r is 0 where perf reads a pipe, or /proc is not there.
 */
void recording_find(struct recording *r);
void recording_free(struct recording *r);

#endif
