// SPDX-License-Identifier: MIT
#include "advance.h"

#include <errno.h>
#include <stdio.h>

static double seconds_between(const struct timespec *then, const struct timespec *now)
{
	return now->tv_sec - then->tv_sec + (now->tv_nsec - then->tv_nsec) / 1e9;
}

int advance_by(struct advance *a, uint64_t bytes)
{
	struct timespec now;

	a->done += bytes;
	if (*a->stop)
		return -EINTR;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!a->shown_at.tv_sec)
		a->shown_at = now;
	if (!a->on || seconds_between(&a->shown_at, &now) < 0.2)
		return 0;
	a->shown_at = now;
	a->shown = true;
	fprintf(stderr, "\r[ ocular: %s %.1f of %.1f MB ]\033[K", a->what, a->done / 1e6, a->all / 1e6);
	return 0;
}

void advance_end(struct advance *a)
{
	if (a->shown)
		fputs("\r\033[K", stderr);
	a->shown = false;
}
