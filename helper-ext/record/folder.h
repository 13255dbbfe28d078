/* SPDX-License-Identifier: MIT */
/*
 * folder.h - the folder of a recording: perf.data, its earlier files, codes-PID.jsonl, and what `ocular view` made of
 * them, nothing else.
 *
 * As perf does with its file, a recording in the way is kept as DIR.old, and an older DIR.old is removed. Ocular
 * removes only what it made, and does not move a folder that is being recorded into, because code tables and new rings
 * use its path. Nothing is written into another user's folder, or one that others may write into, not even by root:
 * there could be links.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLDER_DATA "perf.data"

struct folder {
	int fd;		     /* holds the lock of the folder (flock) until folder_leave(), or it is closed */
	bool made;	     /* by folder_create(): it did not exist */
	char path[PATH_MAX]; /* absolute */
};

/*
 * Makes the folder, mode 0700; an existing empty one keeps its mode. Returns 0, or a negative errno: -EEXIST: DIR holds
 * something other than a recording; -ENOTEMPTY: DIR.old does (such as a perf.data that Ocular did not make, without
 * code tables), is another user's, or cannot be inspected; -EBUSY, -ETXTBSY: a recorder is at work in DIR, in DIR.old;
 * -EPERM: DIR is another user's, or writable for others.
 */
int folder_create(struct folder *f, const char *dir);

/* Others may take the folder from now on: all is written. */
void folder_leave(const struct folder *f);

/* Removes a folder that was made, if it is empty; one that existed before stays. */
void folder_cancel(const struct folder *f);

/* The default limit of a recording: a tenth of the free disk, at most 4 GiB. */
uint64_t folder_share(const struct folder *f);

/* The text after DIR for these five; NULL for other errors. */
const char *folder_refusal(int err);
