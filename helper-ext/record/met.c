/* SPDX-License-Identifier: MIT */
/* met.c - see met.h. There are hardly ever more than two. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "met.h"

static int open_for(struct met *m, bool overwritten, uint32_t hz, bool roomy)
{
	if (overwritten)
		return switches_open_overwritten(&m->switches, m->pid, m->tid);
	if (hz && !switches_open_sampled(&m->switches, m->pid, m->tid, hz, roomy))
		return 0;
	return switches_open(&m->switches, m->pid, m->tid);
}

int met_add(struct met **all, uint32_t pid, uint32_t tid, bool overwritten, uint32_t hz, bool roomy)
{
	struct met *m = malloc(sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	if (err)
		return err;
	*m = (struct met){ .next = *all, .pid = pid, .tid = tid };
	err = open_for(m, overwritten, hz, roomy);
	if (err)
		free(m);
	else
		*all = m;
	return err;
}

static struct switches take(struct met **at)
{
	struct met *m = *at;
	struct switches switches = m->switches;

	*at = m->next;
	free(m);
	return switches;
}

struct switches met_take(struct met **all, uint32_t pid, uint32_t tid)
{
	for (struct met **at = all; *at; at = &(*at)->next)
		if ((*at)->pid == pid && (*at)->tid == tid)
			return take(at);
	return (struct switches){ 0 };
}

static void forget(struct met **at)
{
	struct switches switches = take(at);

	switches_close(&switches);
}

static bool has_ended(const struct met *m)
{
	return syscall(SYS_tgkill, m->pid, m->tid, 0) && errno == ESRCH;
}

void met_forget(struct met **all, uint64_t now_ns, uint64_t ns)
{
	while (*all) {
		if (!(*all)->ended_ns && has_ended(*all))
			(*all)->ended_ns = now_ns;
		if ((*all)->ended_ns && (*all)->ended_ns < ns)
			forget(all);
		else
			all = &(*all)->next;
	}
}

void met_drop(struct met **all, uint32_t pid)
{
	while (*all) {
		if (!pid || (*all)->pid == pid)
			forget(all);
		else
			all = &(*all)->next;
	}
}
