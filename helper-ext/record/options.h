/* SPDX-License-Identifier: MIT */
/* options.h - the command line of ocular-record. */
#ifndef OCULAR_OPTIONS_H
#define OCULAR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "rotation.h"

#define OPTIONS_SYMBOLS 4 /* hardware breakpoints that a thread has */

struct options {
	const char *dir;
	uint32_t ring_records;
	uint32_t wait_ms;
	bool quiet, serve, folder;
	uint32_t tied; /* pid of who started it, and with whom it ends; 0: nobody */
	bool flight;   /* overwrite, and keep snapshots */
	uint32_t flight_records;
	uint64_t flight_ns; /* how far back a snapshot goes; 0: as far as the rings do */
	uint32_t max_snapshots;
	struct rotation_limits rotation;
	uint64_t max_size;   /* bytes of all files; 0: as the disk has room; UINT64_MAX: none */
	uint64_t keep_last;  /* bytes of which the end is kept; 0: all of it */
	bool until_main;     /* do not wait for processes that outlive the command */
	double duty_percent; /* of the time that is traced, in windows; 0: all of it */
	uint64_t duty_window_ns, duty_period_ns;
	const char *symbols[OPTIONS_SYMBOLS]; /* [OBJECT:]SYMBOL: triggers; then NULL */
	char **command;			      /* NULL with --serve, --folder */
};

#define OPTIONS_RUN -1

/* Returns OPTIONS_RUN, or the status to exit with: help was printed, or what is wrong. */
int options_parse(struct options *o, int argc, char **argv);

#endif
