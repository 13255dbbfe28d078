/* SPDX-License-Identifier: MIT */
/* options.h - the command line of ocular-record. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rotation.h"

#define OPTIONS_SYMBOLS 4 /* hardware breakpoints of a thread */

struct options {
	const char *dir;
	uint32_t ring_records;
	uint32_t wait_ms;
	bool quiet, serve, folder, clocks;
	uint32_t tied; /* pid of the process that started it and with which it ends; 0: none */
	bool flight;   /* overwrite, and save snapshots */
	uint32_t flight_records;
	uint64_t flight_ns; /* how far back a snapshot goes; 0: as far as the rings do */
	uint32_t max_snapshots;
	struct rotation_limits rotation;
	uint64_t max_size;   /* bytes of all files; 0: depends on the free disk; UINT64_MAX: no limit */
	uint64_t keep_last;  /* keep only that many bytes at the end; 0: all */
	bool coarse;	     /* the clock is: ring_config.coarse */
	bool until_main;     /* do not wait for processes that outlive the command */
	double duty_percent; /* of the time that is traced, in windows; 0: all of it */
	uint64_t duty_window_ns, duty_period_ns;
	uint32_t native_hz;		      /* samples of C stacks a second; 0: none */
	const char *symbols[OPTIONS_SYMBOLS]; /* [OBJECT:]SYMBOL: triggers; then NULL */
	char **command;			      /* NULL with --serve, --folder, --clocks */
};

#define OPTIONS_RUN -1

/* Returns OPTIONS_RUN, or the exit status: help was printed, or an error. */
int options_parse(struct options *o, int argc, char **argv);
