/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the folder of an emulated recording: spools while it runs, a perf.data when it is over.
 */
#pragma once

#include <limits.h>
#include <stdint.h>

#include "record/folder.h"
#include "settings.h"

#define RECORDING_SPOOLS ".qemu" /* in the folder */

struct recording {
	struct folder folder;
	char spools[PATH_MAX];
	uint64_t bytes;	  /* of traces, when finished */
	uint32_t threads; /* traces */
	uint64_t lost;	  /* traces that were cut off for want of room on the disk */
};

/* Makes the folder and what traced processes need in it. Returns 0 or a negative errno (folder.h). */
int recording_open(struct recording *r, const char *dir);

/*
 * Makes perf.data of the spools and removes them. truth: where the file of truth.h goes, or NULL.
 * Returns 0 or a negative errno.
 */
int recording_finish(struct recording *r, const struct settings *set, const char *truth);

/* Nothing was recorded: removes the folder. */
void recording_cancel(struct recording *r);
