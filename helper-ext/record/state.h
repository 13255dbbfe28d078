/* SPDX-License-Identifier: MIT */
/*
 * state.h - what a recording is made of. Those who work on it, bottom first: flight.c takes snapshots, requests.c
 * serves the traced processes, recorder.c is the round that calls both.
 */
#ifndef OCULAR_STATE_H
#define OCULAR_STATE_H

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

/* What a descriptor in the epoll set is; it travels in the upper half of epoll_data. */
enum source {
	FROM_LISTENER,
	FROM_CLIENT,
	FROM_SIGNALS,
	FROM_PROCESS,
	FROM_STARTER,
	FROM_CONTROL,
	FROM_BREAKPOINT,
};

/* What of a flight recorder (flight.h) is kept from one snapshot to the next. */
struct flight {
	bool on;
	bool reserved;		    /* memory for copies */
	struct timeslice timeslice; /* what is done with them can wait */
	uint64_t window_ns;	    /* 0: whatever the rings hold */
	uint32_t most;		    /* snapshots a recording */
	uint32_t taken;		    /* number of the last one; the first is 1 */
	bool holding;		    /* one of them holds something */
	bool based;		    /* one of them is a baseline, which nobody asked for */
	uint32_t refused;	    /* beyond `most` */
	unsigned int symbols;	    /* bits of those of options->symbols that were found somewhere */
	uint64_t stall_ns;	    /* the longest time that copying took */
};

struct recorder {
	const struct options *options;
	struct folder folder;
	struct clock clock;
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
	int finisher; /* client that asked to finish and waits for it, or -1 */
	int starter;  /* pidfd of who started a server, or -1 */
	bool starter_ended;
	int interrupts;		 /* SIGINT and SIGTERM so far */
	uint64_t interrupted_ns; /* the last of them */
	bool closed;		 /* nothing more is recorded */
	bool complete;		 /* the file is closed too */
	bool error_reported;
	bool kept, keeps_all;	/* the oldest has gone; it never does, though it should */
	bool left_reported;	/* who outlives the target */
	uint64_t ended_ns;	/* when the target was seen to have; 0: not yet */
	uint64_t max_size;	/* of all files, in bytes */
	uint64_t duty_start_ns; /* of the duty cycle: when somebody first asked; 0: nobody has */
	uint64_t flush_ns;	/* next time that chunks are written however small */
	uint64_t nap_ns;
	bool rested; /* this round comes after a nap */
};

/* Waits for the descriptor too; `value` says which one of its source it is. */
int recorder_watch(struct recorder *r, enum source source, uint32_t value, int fd);

/* No ring may be older than the first answer to what TSC is. */
void recorder_update_clock(struct recorder *r);

#endif
