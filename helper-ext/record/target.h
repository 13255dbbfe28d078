/* SPDX-License-Identifier: MIT */
/*
 * target.h - the command that is recorded: it starts as it would without us, and we end as it ends.
 */
#ifndef OCULAR_TARGET_H
#define OCULAR_TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "witness.h"

struct target {
	pid_t pid; /* 0: there is none */
	bool ended;
	int status; /* as of wait(2) */
	struct witness witness;
};

/* What the target inherits, as it was before the recorder changed it for itself. */
struct inherit {
	sigset_t mask;
	struct sigaction ignored[3], child; /* SIGCHLD */
	struct rlimit files;
};

/*
 * Before anything else: where stdin, stdout or stderr is closed, /dev/null is in its place, so that no file of ours
 * gets its number, and a message its bytes. The target finds it closed.
 */
void inherit_standard(void);

/*
 * Takes signals as events, ignores those that would kill for an error, and opens as many files as
 * may be: a pidfd for each process. Returns a signalfd or a negative errno.
 */
int inherit_save(struct inherit *in);

/* Starts argv with OCULAR_DIR=dir. Returns 0, or the negative errno for which it could not run. */
int target_start(struct target *t, char **argv, const char *dir, const struct inherit *in);

/* Passes a signal on, unless everyone in the foreground, or in our process group, has it and the target is there. */
void target_pass(struct target *t, int signal, int si_code);

/* After SIGCHLD: has it ended? */
void target_reap(struct target *t);

/*
 * The exit status that says what became of it; dies of the signal it died of, without a core. 130
 * if it goes on without us, 0 if there was none.
 */
int target_exit_status(const struct target *t);

#endif
