/* SPDX-License-Identifier: MIT */
/*
 * folder.h - the folder of a recording: perf.data, its earlier pieces, and codes-PID.jsonl, nothing else.
 *
 * As perf does with its file, a recording in the way is kept as DIR.old, and an older DIR.old goes.
 * Nothing is ever removed that Ocular did not make, nor moved that is being recorded into: code tables and
 * new rings are brought there by its path. A folder of another user's, or that others may write into, is not
 * written into, by root neither: there could be links.
 */
#ifndef OCULAR_FOLDER_H
#define OCULAR_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLDER_DATA "perf.data"

struct folder {
	int fd;
	bool made;	     /* by folder_create(): it was not there */
	char path[PATH_MAX]; /* absolute */
};

/*
 * Makes the folder, mode 0700; an empty one that is there keeps its mode. Returns 0, or a negative errno: -EEXIST: DIR
 * holds something other than a recording; -ENOTEMPTY: DIR.old does (as a perf.data that Ocular did not make, without
 * code tables), is another user's, or cannot be looked into; -EBUSY, -ETXTBSY: a recorder listens in DIR, in DIR.old;
 * -EPERM: DIR is another user's, or writable for others.
 */
int folder_create(struct folder *f, const char *dir);

/* Takes back a folder that was made, if nothing is in it; one that was there stays. */
void folder_cancel(const struct folder *f);

/* What a recording may take of its disk unless told otherwise: a tenth of what is free, at most 4 GiB. */
uint64_t folder_share(const struct folder *f);

/* What to say behind DIR of those five; NULL of others. */
const char *folder_refusal(int err);

#endif
