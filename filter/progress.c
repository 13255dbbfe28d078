// SPDX-License-Identifier: MIT
/* Redrawn at most five times a second, so that a terminal never slows the analysis. */
#include "progress.h"

#include <stdio.h>

#define STEP 65536

void progress_init(struct progress *p, bool on, uint64_t expected, const char *what)
{
	*p = (struct progress){ .on = on, .expected = expected, .next = on ? STEP : UINT64_MAX, .what = what };
	clock_gettime(CLOCK_MONOTONIC, &p->shown_at);
	p->begun_at = p->shown_at;
}

static double seconds_since(const struct timespec *then, struct timespec *now)
{
	clock_gettime(CLOCK_MONOTONIC, now);
	return now->tv_sec - then->tv_sec + (now->tv_nsec - then->tv_nsec) / 1e9;
}

/* At the speed until now, which the first second says little of. */
static void show_left(double seconds, uint64_t words, uint64_t expected)
{
	double left = seconds * (expected - words) / words;

	if (seconds < 1)
		return;
	if (left < 100)
		fprintf(stderr, ", %.0f s left", left);
	else
		fprintf(stderr, ", %.0f min left", left / 60);
}

void progress_show(struct progress *p, uint64_t words)
{
	struct timespec now;

	p->next = words + STEP;
	if (seconds_since(&p->shown_at, &now) < 0.2)
		return;
	p->shown_at = now;
	p->shown = true;
	fprintf(stderr, "\r[ ocular: %s%s%.1f M markers", p->what ?: "", p->what ? ": " : "", words / 1e6);
	if (p->expected > words) {
		fprintf(stderr, ", %.0f%%", 100.0 * words / p->expected);
		show_left(seconds_since(&p->begun_at, &now), words, p->expected);
	}
	fprintf(stderr, " ]\033[K");
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}
