// SPDX-License-Identifier: MIT
/* Which functions wait, and for what; for which locks; and which had the GIL while others waited for it. */
#include <errno.h>
#include <stdlib.h>

#include "base/figure.h"
#include "report.h"
#include "report_write.h"

#define SHARE  6
#define SPAN   8
#define NUMBER 7
#define KIND   17 /* "  process 99.9 ms" */

/* What waits less than this part of the time is left out. */
#define SHARE_WAITING 0.01

/* How long a function waited: by the kernel, or else as the program tells. */
static uint64_t waiting_ns(const struct profile *p, const struct function *fn)
{
	return profile_has_cpu(p) ? fn->self_off.waiting_ns : fn->waits ? waits_ns(fn->waits) : 0;
}

/* What it waited for longest, and how long: the head adds up the same times by kind. */
static void write_most(const struct report *r, const struct function *fn)
{
	static const struct waits none;
	const struct waits *idle = fn->idle ? fn->idle : &none;
	struct waits told = waits_minus(fn->waits ? fn->waits : &none, idle);
	enum wait_kind kind = waits_most(&told);
	bool is_idle = waits_ns(idle) > told.of[kind].ns;
	char text[KIND] = "not told", ns[FIGURE];

	if (kind || is_idle)
		snprintf(text, sizeof(text), "%s %s", is_idle ? "idle" : wait_name(kind),
			 figure_span(ns, is_idle ? waits_ns(idle) : told.of[kind].ns));
	fprintf(r->f, "  %-*s", KIND - 2, text);
}

static void write_waiting(const struct report *r, const struct code *code)
{
	const struct function *fn = code->function;

	write_share(r, waiting_ns(r->p, fn), r->p->traced_ns);
	write_span(r, waiting_ns(r->p, fn));
	write_number(r, fn->calls);
	write_most(r, fn);
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, SHARE + SPAN + NUMBER + KIND);
}

int report_waiting(const struct report *r, size_t most)
{
	size_t n, i;
	struct code **all = profile_all_functions(r->p, &n, profile_has_cpu(r->p) ? RANK_WAITING : RANK_WAITS);
	double least = SHARE_WAITING * r->p->traced_ns;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n && i < most; i++) {
		uint64_t ns = waiting_ns(r->p, all[i]->function);

		if (!ns || ns < least)
			break;
		if (!i) {
			write_title(r, "Functions by waiting time, of the time of all threads");
			fputs(" share    wait  calls  most of it for   function\n", r->f);
		}
		write_waiting(r, all[i]);
	}
	free(all);
	return 0;
}

static void write_lock(const struct report *r, const struct lock *l)
{
	write_share(r, l->waited.ns, r->p->traced_ns);
	write_span(r, l->waited.ns);
	write_number(r, l->waited.n);
	write_place(r, l->code, l->line, SAMPLE_NOWHERE, SHARE + SPAN + NUMBER);
}

int report_locks(const struct report *r, size_t most)
{
	size_t n;
	const struct lock **all = locks_ranked(&r->p->locks, &n);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < most && all[i]->waited.ns >= SHARE_WAITING * r->p->traced_ns; i++) {
		if (!i) {
			write_title(r, "Locks by waiting time, of the time of all threads");
			fputs(" share    wait  times  made in\n", r->f);
		}
		write_lock(r, all[i]);
	}
	free(all);
	return 0;
}

static void write_holder(const struct report *r, const struct code *code, uint64_t all)
{
	write_share(r, code->function->gil_held_ns, all);
	write_span(r, code->function->gil_held_ns);
	write_number(r, code->function->calls);
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, SHARE + SPAN + NUMBER);
}

int report_gil(const struct report *r, size_t most)
{
	uint64_t all = 0;
	size_t n, i;
	struct code **codes = profile_functions(r->p, &n, RANK_GIL);

	for (i = 0; i < r->p->threads; i++)
		all += r->p->thread_totals[i].gil_ns;
	if (!codes)
		return -ENOMEM;
	for (i = 0; i < n && i < most && all >= SHARE_WAITING * r->p->traced_ns; i++) {
		if (codes[i]->function->gil_held_ns < SHARE_WAITING * all)
			break;
		if (!i) {
			write_title(r, "Functions with the GIL, of the time that others waited for it");
			fputs(" share    time  calls  function\n", r->f);
		}
		write_holder(r, codes[i], all);
	}
	free(codes);
	return 0;
}
