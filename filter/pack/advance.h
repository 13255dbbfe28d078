/* SPDX-License-Identifier: MIT */
/* advance.h - how far packing and unpacking have come: a line on a terminal, and whether the user wants it to end. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct advance {
	bool on;
	const char *what; /* "packing" */
	uint64_t all, done;
	bool shown;
	struct timespec shown_at;
	const volatile sig_atomic_t *stop; /* a signal that came; 0: none */
};

/* So many bytes more. 0, or -EINTR: stop. */
int advance_by(struct advance *a, uint64_t bytes);

/* Removes the line. */
void advance_end(struct advance *a);
