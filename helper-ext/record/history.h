/* SPDX-License-Identifier: MIT */
/* history.h - the latest switches of all threads, copied for a snapshot. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "met.h"

struct history {
	uint32_t pid, tid;
	bool whole; /* from when the thread was met on; else older ones are overwritten */
	size_t n;
	struct switched *list; /* oldest first */
};

struct histories {
	struct history *all;
	size_t n;
};

/* Copies those of the threads that were met, all overwritten ones. 0, or -ENOMEM: some are missing. */
int histories_copy(struct histories *h, const struct met *met);

/* A thread's; NULL: its switches are not known. */
const struct history *histories_find(const struct histories *h, uint32_t pid, uint32_t tid);

void histories_free(struct histories *h);
