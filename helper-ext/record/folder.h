/* SPDX-License-Identifier: MIT */
/*
 * folder.h - the folder of a recording: perf.data, its earlier pieces, and codes-PID.jsonl, nothing else.
 *
 * As perf does with its file, a recording in the way is kept as DIR.old, and an older DIR.old goes.
 * Nothing is ever removed that is not a recording's, nor moved that is being recorded into: code tables and
 * new rings are brought there by its path.
 */
#ifndef OCULAR_FOLDER_H
#define OCULAR_FOLDER_H

#include <limits.h>
#include <stdint.h>

#define FOLDER_DATA "perf.data"

struct folder {
	int fd;
	char path[PATH_MAX]; /* absolute */
};

/*
 * Makes the folder, mode 0700. Returns 0, or a negative errno: -EEXIST: DIR holds something else
 * than a recording; -ENOTEMPTY: DIR.old does, or cannot be looked into; -EBUSY, -ETXTBSY: a recorder listens in
 * DIR, in DIR.old.
 */
int folder_create(struct folder *f, const char *dir);

/* What a recording may take of its disk unless told otherwise: a tenth of what is free, at most 4 GiB. */
uint64_t folder_share(const struct folder *f);

/* What to say behind DIR of those four; NULL of others. */
const char *folder_refusal(int err);

#endif
