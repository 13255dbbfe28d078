/* SPDX-License-Identifier: MIT */
/* state.c - see state.h. */
#include <errno.h>
#include <sys/epoll.h>

#include "state.h"

int recorder_watch(struct recorder *r, enum source source, uint32_t value, int fd)
{
	struct epoll_event ev = {
		.events = EPOLLIN,
		.data.u64 = (uint64_t)source << 32 | value,
	};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

void recorder_update_clock(struct recorder *r)
{
	struct time_conv conv;

	clock_update(&r->clock);
	if (r->complete)
		return;
	conv = clock_conv(&r->clock);
	perfdata_clock(&r->out.file, &conv);
}
