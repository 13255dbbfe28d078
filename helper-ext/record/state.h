/* SPDX-License-Identifier: MIT */
/*
 * state.h - the data of a recording. Used by, bottom first: flight.c, which takes snapshots; requests.c, which serves
 * the traced processes; recorder.c, the main loop, which calls both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "breakpoint.h"
#include "clock.h"
#include "control.h"
#include "folder.h"
#include "options.h"
#include "rotation.h"
#include "process.h"
#include "progress.h"
#include "rings.h"
#include "stream.h"
#include "target.h"
#include "timeslice.h"

/* What a descriptor in the epoll set is; stored in the upper half of epoll_data. */
enum source {
	FROM_LISTENER,
	FROM_CLIENT,
	FROM_SIGNALS,
	FROM_PROCESS,
	FROM_STARTER,
	FROM_CONTROL,
	FROM_BREAKPOINT,
};

/* What a flight recorder (flight.h) keeps from one snapshot to the next. */
struct flight {
	bool on;
	bool reserved;		    /* memory for copies */
	struct timeslice timeslice; /* work on them that can wait */
	uint64_t window_ns;	    /* 0: everything in the rings */
	uint32_t most;		    /* maximum number of snapshots */
	uint32_t taken;		    /* number of the last one; the first is 1 */
	bool holding;		    /* one of them has words */
	bool based;		    /* one of them is a baseline, which nobody asked for */
	uint32_t refused;	    /* beyond `most` */
	unsigned int symbols;	    /* bits of those of options->symbols that were found somewhere */
	uint64_t stall_ns;	    /* the longest time that copying took */
};

struct recorder {
	const struct options *options;
	struct folder folder;
	struct clock clock;
	struct wakeup wakeup;
	struct trace_out out;
	struct rings rings;
	struct flight flight;
	struct breakpoints breakpoints;
	struct control control;
	struct processes processes;
	struct rotation rotation;
	struct progress progress;
	struct inherit inherit;
	struct target target;
	int epoll, listener, signals;
	int finisher; /* client that requested the end and waits for it, or -1 */
	int starter;  /* pidfd of the process that started a server, or -1 */
	bool starter_ended;
	int interrupts;		 /* SIGINT and SIGTERM so far */
	uint64_t interrupted_ns; /* the last of them */
	bool closed;		 /* nothing more is recorded */
	bool complete;		 /* the file is closed too */
	bool error_reported;
	bool kept, keeps_all;	/* the oldest was dropped; dropping fails */
	bool left_reported;	/* processes that outlive the target */
	uint64_t ended_ns;	/* when the target was seen to have ended; 0: not yet */
	uint64_t max_size;	/* of all files, in bytes */
	uint64_t duty_start_ns; /* of the duty cycle: when somebody first asked; 0: not yet */
	uint64_t flush_ns;	/* next time to write chunks, however small */
	uint64_t nap_ns;
	bool rested; /* this round comes after a nap */
};

/* Waits for the descriptor too; `value` says which of its source's it is. */
int recorder_watch(struct recorder *r, enum source source, uint32_t value, int fd);

/* No ring may be older than the first calibration of the TSC. */
void recorder_update_clock(struct recorder *r);
