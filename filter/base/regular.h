/* SPDX-License-Identifier: MIT */
/* regular.h - files of a recording, which somebody else may have put there: reading a FIFO or a device never ends. */
#ifndef OCULAR_REGULAR_H
#define OCULAR_REGULAR_H

/* A descriptor of a regular file, to read; or a negative errno, -EINVAL: it is none. Never waits. */
int regular_open(const char *path);

#endif
