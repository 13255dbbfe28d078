/* SPDX-License-Identifier: MIT */
/*
 * progress.h - what the recorder says on stderr: a line that is redrawn on a terminal, and one at the end, in the
 * manner of perf record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

struct progress {
	bool quiet, terminal;
	bool shown; /* the redrawn line is on the screen */
	uint64_t start_ns, next_ns;
	double size; /* MB, at the last line */
	uint64_t sized_ns;
};

/* The current figures. */
struct figures {
	const struct trace_out *out;
	uint32_t processes, threads, damaged;
	const char *path;
	bool flight; /* the next three are known */
	uint32_t snapshots, refused;
	uint64_t stall_ns; /* the longest time that copying one took */
};

void progress_start(struct progress *p, bool quiet, uint64_t now_ns);

/* Redraws the line, at most a few times a second. */
void progress_show(struct progress *p, const struct figures *f, uint64_t now_ns);

/* Removes the line before other output. */
void progress_clear(struct progress *p);

/* The last line, and what was lost: that is printed even when quiet. */
void progress_end(struct progress *p, const struct figures *f);
