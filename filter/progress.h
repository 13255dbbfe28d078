/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr with the progress of a long analysis. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
	bool on;
	bool shown;
	uint64_t expected; /* words; 0: unknown */
	uint64_t next;	   /* look at the clock after this many words */
	struct timespec begun_at, shown_at;
	const char *what; /* is read: "A"; NULL: there is only one thing to read */
};

void progress_init(struct progress *p, bool on, uint64_t expected, const char *what);

/* Call at every word: one comparison except for every 65536th. */
static inline bool progress_due(const struct progress *p, uint64_t words)
{
	return words >= p->next;
}

void progress_show(struct progress *p, uint64_t words);

/* Removes the line. */
void progress_end(struct progress *p);
