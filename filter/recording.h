/* SPDX-License-Identifier: MIT */
/* recording.h - which recording is this process reading? */
#ifndef OCULAR_RECORDING_H
#define OCULAR_RECORDING_H

#include <stdint.h>

/*
 * perf does not tell a dlfilter which file it reads, so the open file that begins as a perf.data is
 * looked for in /proc/self/fd. Its folder, to be freed; *size is the file's size in bytes. NULL, and
 * *size 0: perf reads a pipe, or /proc is not there.
 */
char *recording_dir(uint64_t *size);

#endif
