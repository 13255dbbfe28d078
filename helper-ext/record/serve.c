/* SPDX-License-Identifier: MIT */
/* serve.c - the two forks of a daemon, and a pipe that tells the foreground when it is ready. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve.h"

/* In the foreground: ends with the status the background reports; without a report the background has died. */
static void wait_report(int report)
{
	int status;

	if (read(report, &status, sizeof(status)) != sizeof(status))
		status = EXIT_FAILURE;
	_exit(status);
}

int serve_detach(void)
{
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0) {
		close(report[1]);
		wait_report(report[0]);
	}
	close(report[0]);
	/* A second fork, because a session's leader could be given a terminal. */
	setsid();
	pid = fork();
	if (pid)
		_exit(EXIT_FAILURE);
	return report[1];
}

void serve_ready(int report, int status)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	(void)!chdir("/"); /* keeps no file system busy */
	(void)!write(report, &status, sizeof(status));
	close(report);
}
