/* SPDX-License-Identifier: MIT */
/*
 * target.h - the recorded command: it starts as it would without us, and we end as it ends.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "witness.h"

struct target {
	pid_t pid; /* 0: there is none */
	bool ended;
	int status; /* from wait(2) */
	struct witness witness;
};

/* What the target inherits, as it was before the recorder changed it for itself. */
struct inherit {
	sigset_t mask;
	struct sigaction ignored[3], child; /* SIGCHLD */
	struct rlimit files;
};

/*
 * Call it first: if stdin, stdout or stderr is closed, /dev/null takes its place, so that none of our files gets its
 * number, and a message its bytes. The target finds it closed.
 */
void inherit_standard(void);

/*
 * Takes signals as events, ignores those that would kill because of an error, and raises the limit of open files: each
 * process needs a pidfd. Returns a signalfd or a negative errno.
 */
int inherit_save(struct inherit *in);

/* Starts argv with OCULAR_DIR=dir. Returns 0, or a negative errno if it could not run. */
int target_start(struct target *t, char **argv, const char *dir, const struct inherit *in);

/* Passes a signal on, unless all of the foreground, or of our process group, got it and the target is among them. */
void target_pass(struct target *t, int signal, int si_code);

/* After SIGCHLD: has it ended? */
void target_reap(struct target *t);

/*
 * The exit status that reflects its end; if it died of a signal, dies of the same, without a core. 130 if it goes on
 * without us, 0 if there was none.
 */
int target_exit_status(const struct target *t);
