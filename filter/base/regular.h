/* SPDX-License-Identifier: MIT */
/* regular.h - opens files of a recording, which may come from anybody: reading a FIFO or a device might never end. */
#pragma once

/* A descriptor for reading a regular file; or a negative errno, -EINVAL: it is not a regular file. Never waits. */
int regular_open(const char *path);
