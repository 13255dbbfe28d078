/* SPDX-License-Identifier: MIT */
/* target.c - fork, exec, signals and an end like the target's. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

static const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD };

/* A full disk, a closed stderr, a progress line from the background should give an errno, not kill us. */
static const int ignored[] = { SIGXFSZ, SIGPIPE, SIGTTOU };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

void inherit_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int inherit_save(struct inherit *in)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit files;
	sigset_t set;
	int fd;

	_Static_assert(COUNT(in->ignored) == COUNT(ignored), "one saved action a signal");
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(handled); i++)
		sigaddset(&set, handled[i]);
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &in->ignored[i]);
	/* If it is ignored, a child ends without a status. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &in->child);
	sigprocmask(SIG_BLOCK, &set, &in->mask);
	getrlimit(RLIMIT_NOFILE, &in->files);
	files = (struct rlimit){ in->files.rlim_max, in->files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &files);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static void inherit_restore(const struct inherit *in)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &in->ignored[i], NULL);
	sigaction(SIGCHLD, &in->child, NULL);
	sigprocmask(SIG_SETMASK, &in->mask, NULL);
	setrlimit(RLIMIT_NOFILE, &in->files);
}

/* In the child: becomes the command, or reports why not. */
static void become(char **argv, const char *dir, const struct inherit *in, int report)
{
	int err = 0;

	inherit_restore(in);
	if (setenv("OCULAR_DIR", dir, 1) == 0)
		execvp(argv[0], argv);
	err = errno;
	(void)!write(report, &err, sizeof(err));
	_exit(127);
}

int target_start(struct target *t, char **argv, const char *dir, const struct inherit *in)
{
	int report[2], err = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	t->pid = fork();
	if (t->pid == 0)
		become(argv, dir, in, report[1]);
	err = t->pid < 0 ? errno : 0;
	close(report[1]);
	/* An exec that succeeds closes the pipe without a word. */
	if (!err && read(report[0], &err, sizeof(err)) > 0)
		waitpid(t->pid, NULL, 0);
	close(report[0]);
	if (!err)
		witness_start(&t->witness);
	return -err;
}

void target_pass(struct target *t, int signal, int si_code)
{
	bool has_it;

	if (!t->pid || t->ended || si_code == SI_KERNEL)
		return;
	has_it = witness_has(&t->witness, signal);
	if (!has_it || getpgid(t->pid) != getpgrp())
		kill(t->pid, signal);
}

void target_reap(struct target *t)
{
	if (!t->pid || t->ended || waitpid(t->pid, &t->status, WNOHANG) != t->pid)
		return;
	t->ended = true;
	witness_end(&t->witness);
}

static void die_of(int signal)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
}

int target_exit_status(const struct target *t)
{
	if (!t->pid)
		return 0;
	if (!t->ended)
		return 128 + SIGINT;
	if (WIFEXITED(t->status))
		return WEXITSTATUS(t->status);
	die_of(WTERMSIG(t->status));
	return 128 + WTERMSIG(t->status);
}
