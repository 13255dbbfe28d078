/* SPDX-License-Identifier: MIT */
/* process.c - a list of pidfds. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

int process_open(uint32_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
}

struct process *processes_find(const struct processes *ps, uint32_t pid)
{
	struct process *p = ps->first;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

struct process *processes_add(struct processes *ps, uint32_t pid)
{
	struct process *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->pidfd = process_open(pid);
	p->ended = p->pidfd < 0 && errno == ESRCH;
	p->noticed = 0;
	p->next = ps->first;
	ps->first = p;
	ps->living++;
	ps->seen++;
	return p;
}

void processes_remove(struct processes *ps, struct process *p)
{
	struct process **at = &ps->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
	ps->living--;
}

bool process_ended(struct process *p)
{
	struct pollfd pfd = { p->pidfd, POLLIN, 0 };

	if (!p->ended && p->pidfd >= 0)
		p->ended = poll(&pfd, 1, 0) > 0;
	else if (!p->ended)
		p->ended = kill((pid_t)p->pid, 0) < 0 && errno == ESRCH;
	return p->ended;
}
