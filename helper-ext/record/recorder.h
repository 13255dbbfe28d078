/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - one recording: from the first announcement to a perf.data that is complete.
 *
 * A single thread. It naps for a millisecond at most, takes what the rings hold, and goes on without a nap
 * while any ring is filling up; requests, deaths and signals are looked at between two rounds. The faster
 * rings fill, the shorter are its naps, so that a nap that the system makes longer does not fill one.
 */
#ifndef OCULAR_RECORDER_H
#define OCULAR_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "breakpoint.h"
#include "clock.h"
#include "control.h"
#include "flight.h"
#include "folder.h"
#include "options.h"
#include "rotation.h"
#include "process.h"
#include "progress.h"
#include "rings.h"
#include "stream.h"
#include "target.h"

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

/* folder_create(); what is wrong is said. */
int recorder_folder(struct folder *f, const char *dir);

/*
 * Makes folder, file and socket; from its return on clients can connect. Returns 0, or a negative
 * errno after one line on stderr. starter: pidfd of the process whose end ends a recording that
 * nobody has joined, or -1.
 */
int recorder_open(struct recorder *r, const struct options *options, int starter);

/* Records until the target or the last client has ended, or somebody asks for the end. */
void recorder_run(struct recorder *r);

/* Completes the file and says what is in it. Returns 0 or the errno for which it is not all. */
int recorder_close(struct recorder *r);

/* Takes the folder back: nothing was recorded. */
void recorder_cancel(struct recorder *r);

/* For requests.c: waits for the descriptor too; `value` says which one of its source it is. */
int recorder_watch(struct recorder *r, enum source source, uint32_t value, int fd);

/* For requests.c: the process has ended; takes what it left. */
void recorder_end_process(struct recorder *r, struct process *p);

/* For requests.c: no ring may be older than the first answer to what TSC is. */
void recorder_update_clock(struct recorder *r);

#endif
