/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - one recording: from the first announcement to a complete perf.data.
 *
 * A single thread. It naps for at most a millisecond, takes what the rings hold, and continues without a nap while any
 * ring is filling up; requests, deaths and signals are handled between two rounds. The faster rings fill, the shorter
 * its naps, so that no ring fills up even if the system prolongs a nap.
 */
#pragma once

#include "state.h"

/* folder_create(); prints the error. */
int recorder_folder(struct folder *f, const char *dir);

/*
 * Makes folder, file and socket; when it returns, clients can connect. Returns 0, or a negative errno after one line on
 * stderr. starter: pidfd of the process whose end ends a recording that nobody has joined, or -1.
 */
int recorder_open(struct recorder *r, const struct options *options, int starter);

/* Records until the target or the last client has ended, or the end is requested. */
void recorder_run(struct recorder *r);

/* Completes the file and prints what is in it. Returns 0, or the errno if something is missing. */
int recorder_close(struct recorder *r);

/* Removes the folder: nothing was recorded. */
void recorder_cancel(struct recorder *r);
