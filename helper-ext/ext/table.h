/* SPDX-License-Identifier: MIT */
/*
 * table.h - the file codes-PID.jsonl (docs/marker.md).
 *
 * The file is opened for each line, so that the traced process keeps no descriptor, and a line is one write(2), so that
 * a killed process leaves complete lines. In a forked child the first line makes the child's own file, whose header
 * names the parent.
 */
#pragma once

#include <stdint.h>

#include "text.h"

/*
 * Begin a file, or a new header in it, in folder dir (copied). `common` are the header's keys that
 * a forked child shares, as JSON without braces; it becomes the table's. 0 or a negative errno.
 */
int table_start(const char *dir, struct text *common);

/* Where lines go now: a copy to free(), or NULL: nowhere. */
char *table_where(void);

/* An id for one more code object or C function, or 0: there are none left. */
uint32_t table_next_id(void);

/* This process has markers: a forked child's file begins now, even if all its code is its parent's. */
void table_begin(void);

/*
 * Append the line and a newline. What cannot be written (no descriptor is left, a full disk) is kept, up to 8 MiB, and
 * tried again with the next line; beyond that, names will be missing.
 */
void table_write(struct text *line);

/* The same, but does not begin a file that is not there yet. */
void table_add(struct text *line);

/* Discards what table_write() gets from now on. */
void table_stop(void);

/* In a forked child, with the process lock. */
void table_forked(void);
