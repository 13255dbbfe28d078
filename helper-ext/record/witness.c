/* SPDX-License-Identifier: MIT */
/* witness.c - the kernel shows which signals are pending in a process; to forget them, the witness is replaced. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "witness.h"

#define PATIENCE_NS 1000000 /* a group's members get a signal one after another */

static void stand_by(pid_t recorder)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "ocular-witness");
	syscall(__NR_close_range, 0u, ~0u, 0u); /* Linux 5.9; before that, descriptors live as long as we do */
	while (getppid() == recorder)
		sigsuspend(&all);
	_exit(0);
}

void witness_start(struct witness *w)
{
	pid_t recorder = getpid();

	w->pid = fork();
	if (w->pid == 0)
		stand_by(recorder);
}

static bool is_pending(pid_t pid, int signal)
{
	char path[64], line[128];
	uint64_t set = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "ShdPnd: %lx", &set) == 1)
			break;
	if (f)
		fclose(f);
	return set >> (signal - 1) & 1;
}

bool witness_has(struct witness *w, int signal)
{
	const struct timespec patience = { .tv_nsec = PATIENCE_NS };

	if (w->pid <= 0)
		return false;
	if (!is_pending(w->pid, signal))
		nanosleep(&patience, NULL);
	if (!is_pending(w->pid, signal))
		return false;
	witness_end(w);
	witness_start(w);
	return true;
}

void witness_end(struct witness *w)
{
	if (w->pid <= 0)
		return;
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
}
