/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - one recording: from the first announcement to a perf.data that is complete.
 *
 * A single thread. It naps for a millisecond at most, takes what the rings hold, and goes on without a nap
 * while any ring is filling up; requests, deaths and signals are looked at between two rounds. The faster
 * rings fill, the shorter are its naps, so that a nap that the system makes longer does not fill one.
 */
#ifndef OCULAR_RECORDER_H
#define OCULAR_RECORDER_H

#include "state.h"

/* folder_create(); what is wrong is said. */
int recorder_folder(struct folder *f, const char *dir);

/*
 * Makes folder, file and socket; from its return on clients can connect. Returns 0, or a negative
 * errno after one line on stderr. starter: pidfd of the process whose end ends a recording that
 * nobody has joined, or -1.
 */
int recorder_open(struct recorder *r, const struct options *options, int starter);

/* Records until the target or the last client has ended, or somebody asks for the end. */
void recorder_run(struct recorder *r);

/* Completes the file and says what is in it. Returns 0 or the errno for which it is not all. */
int recorder_close(struct recorder *r);

/* Takes the folder back: nothing was recorded. */
void recorder_cancel(struct recorder *r);

#endif
