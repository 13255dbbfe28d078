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
	uint64_t lost;	  /* traces that were cut off because the disk was full */
};

/* Makes the folder and the files that traced processes need. Returns 0 or a negative errno (folder.h). */
int recording_open(struct recording *r, const char *dir);

/*
 * Makes perf.data from the spools and removes them. truth: path for the file of truth.h, or NULL. Returns 0 or a
 * negative errno.
 */
int recording_finish(struct recording *r, const struct settings *set, const char *truth);

/* Nothing was recorded: removes the folder. */
void recording_cancel(struct recording *r);
