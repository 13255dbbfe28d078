// SPDX-License-Identifier: MIT
/* Which functions wait, and for what; for which locks; and which had the GIL while others waited for it. */
#include <errno.h>
#include <stdlib.h>

#include "base/figure.h"
#include "report.h"
#include "report_write.h"
#include "summed_rows.h"

#define TIMES 21 /* columns of write_times() */
#define KIND  17 /* "  process 99.9 ms" */

/* What waits less than this part of the time is left out. */
#define SHARE_WAITING 0.01

/* What it waited for longest, and how long: the head adds up the same times by kind. */
static void write_most(const struct report *r, const struct waiting *w)
{
	struct waits told = waits_minus(&w->told, &w->idle);
	enum wait_kind kind = waits_most(&told);
	bool is_idle = waits_ns(&w->idle) > told.of[kind].ns;
	char text[KIND] = "not told", ns[FIGURE];

	if (kind || is_idle)
		snprintf(text, sizeof(text), "%s %s", is_idle ? "idle" : wait_name(kind),
			 figure_span(ns, is_idle ? waits_ns(&w->idle) : told.of[kind].ns));
	fprintf(r->f, "  %-*s", KIND - 2, text);
}

/* A row's first columns: of the time of `all`. */
static void write_times(const struct report *r, const struct ranked *at, uint64_t all, uint64_t n)
{
	write_share(r, at->most, all);
	write_span(r, at->most);
	write_number(r, n);
}

int report_waiting(const struct report *r, size_t most)
{
	size_t n;
	struct waiting *all = summed_waiting(r->p, &n);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < most && all[i].at.most >= SHARE_WAITING * r->p->traced_ns; i++) {
		if (!i) {
			write_title(r, "Functions by waiting time, of the time of all threads");
			fputs(" share    wait  calls  most of it for   function\n", r->f);
		}
		write_times(r, &all[i].at, r->p->traced_ns, all[i].calls);
		write_most(r, &all[i]);
		write_place(r, all[i].at.code, all[i].at.code->firstlineno, SAMPLE_NOWHERE, TIMES + KIND);
	}
	free(all);
	return 0;
}

int report_locks(const struct report *r, size_t most)
{
	size_t n;
	struct summed_lock *all = summed_locks(r->p, &n);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < most && all[i].at.most >= SHARE_WAITING * r->p->traced_ns; i++) {
		if (!i) {
			write_title(r, "Locks by waiting time, of the time of all threads");
			fputs(" share    wait  times  made in\n", r->f);
		}
		write_times(r, &all[i].at, r->p->traced_ns, all[i].waited.n);
		write_place(r, all[i].at.code, all[i].line, SAMPLE_NOWHERE, TIMES);
	}
	free(all);
	return 0;
}

int report_gil(const struct report *r, size_t most)
{
	uint64_t waited = summed_gil_ns(r->p);
	size_t n;
	struct holder *all = summed_holders(r->p, &n);

	if (!all)
		return -ENOMEM;
	if (waited < SHARE_WAITING * r->p->traced_ns)
		most = 0;
	for (size_t i = 0; i < n && i < most && all[i].at.most >= SHARE_WAITING * waited; i++) {
		if (!i) {
			write_title(r, "Functions with the GIL, of the time that others waited for it");
			fputs(" share    time  calls  function\n", r->f);
		}
		write_times(r, &all[i].at, waited, all[i].calls);
		write_place(r, all[i].at.code, all[i].at.code->firstlineno, SAMPLE_NOWHERE, TIMES);
	}
	free(all);
	return 0;
}
