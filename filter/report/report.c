// SPDX-License-Identifier: MIT
/* The text around the tables: what was recorded, by which clock, and what is missing. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "model/losses.h"
#include "report_write.h"
#include "base/text.h"

#define FIELD 9 /* columns of a name in the head */

#define VERSION 160 /* bytes */

#define UNMATCHED_COLUMNS 60 /* of each name */

static void write_field(const struct report *r, const char *name, const char *value)
{
	fprintf(r->f, "%-*s", FIELD, name);
	text_elided(r->f, value ? value : "not known", r->width - FIELD);
	fputc('\n', r->f);
}

void report_clock(FILE *f, const struct profile *p)
{
	static const struct {
		const char *clock, *words;
	} clocks[] = {
		{ "ns", "nanoseconds: the recording names no clock frequency" },
		{ "core", "core cycles, exact: the sums of CYC packets" },
		{ "emulated", "emulated core: one cycle an instruction" },
	};

	const char *words = p->clock;

	if (p->clock_hz) {
		fprintf(f, "%s at %.3f GHz (1 cycle = %.3g ns)", strcmp(p->clock, "tsc") ? p->clock : "TSC",
			p->clock_hz / 1e9, 1e9 / p->clock_hz);
		if (p->coarse)
			fprintf(f,
				", read for one\n         marker of %" PRIu32 " and for waits; times between are "
				"interpolated",
				p->coarse);
		return;
	}
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcmp(p->clock, clocks[i].clock))
			words = clocks[i].words;
	fputs(words, f);
	if (p->cycles_apart)
		fprintf(f, ";\n         counted when %" PRIu32 " or more have passed, so shorter times are not exact",
			p->cycles_apart);
	if (p->shared_cycles)
		fprintf(f, "; %" PRIu64 " of them divided by time, where threads changed CPU", p->shared_cycles);
}

/* Compiled code makes no events; events of back-edges and instructions keep loops interpreted. */
static void write_jit(const struct report *r, const char *python)
{
	uint64_t compiled_ns = r->p->zoomed ? 0 : compiled_ns_of(r->p->codes);

	if (compiled_ns && r->p->traced_ns)
		fprintf(r->f, "JIT      on; %.1f%% of the time was in compiled code\n",
			100.0 * compiled_ns / r->p->traced_ns);
	else if (r->p->events[OP_JUMP] || r->p->events[OP_INSTRUCTION])
		write_field(r, "JIT", "on; the events of this mode keep loops interpreted");
	else
		write_field(r, "JIT", "on; how much of the time was compiled code is unknown");
	if (python && !strncmp(python, "3.14.", 5))
		write_field(r, "",
			    "in Python 3.14 it can corrupt local variables of what is traced (python/cpython#156319)");
}

static const char *plural(uint64_t n, const char *ending)
{
	return n == 1 ? "" : ending;
}

static void write_trace(const struct report *r, uint64_t n)
{
	const struct profile *p = r->p;

	fprintf(r->f, "Trace    %" PRIu64 " event%s, %" PRIu64 " thread%s, %" PRIu64 " process%s\n", n, plural(n, "s"),
		p->threads, plural(p->threads, "s"), p->processes, plural(p->processes, "es"));
}

/* The share of the time that the figures cover: processes were traced in windows only. */
static void write_duty(const struct report *r)
{
	const struct profile *p = r->p;
	char traced[FIGURE], lived[FIGURE], window[FIGURE], period[FIGURE];
	double share = p->duty.lived_ns ? (double)p->duty.traced_ns / p->duty.lived_ns : 0;

	fprintf(r->f,
		"Duty     %.3g %% of the time was traced: %s of %s, %" PRIu64 " window%s of %s, one every %s;\n"
		"         counts and times are of these windows alone\n",
		100 * share, figure_duration(traced, p->duty.traced_ns), figure_duration(lived, p->duty.lived_ns),
		p->duty.windows, plural(p->duty.windows, "s"), figure_duration(window, p->duty.window_ns),
		figure_duration(period, p->duty.period_ns));
}

/* Where the threads' time went, as far as it is known. */
static void write_time(const struct report *r)
{
	const struct profile *p = r->p;
	const struct off *off = &p->traced_off;
	char span[FIGURE], sum[FIGURE], cpu[FIGURE], waiting[FIGURE], preempted[FIGURE];

	fprintf(r->f, "Time     %s wall; %s: ", figure_span(span, p->end_ns - p->start_ns),
		p->threads == 1 ? "thread" : "threads");
	if (profile_has_cpu(p))
		fprintf(r->f, "%s CPU, %s waiting, %s preempted\n", figure_span(cpu, p->traced_ns - off->ns),
			figure_span(waiting, off->waiting_ns), figure_span(preempted, off->ns - off->waiting_ns));
	else if (!p->untold)
		fprintf(r->f, "%s, %s CPU, not known of functions\n", figure_span(sum, p->traced_ns),
			figure_span(cpu, p->cpu_ns));
	else
		fprintf(r->f, "%s with waiting; CPU time is not known\n", figure_span(sum, p->traced_ns));
}

double report_preempted(const struct profile *p)
{
	uint64_t on_cpu = p->traced_ns - p->traced_off.ns;

	return profile_has_cpu(p) ? noise_preempted(p->traced_ns, p->traced_off.waiting_ns, on_cpu) : 0;
}

static void write_noise(const struct report *r)
{
	double preempted = report_preempted(r->p);

	if (preempted >= NOISE_PREEMPTED)
		fprintf(r->f, "Noise    preempted %.0f%% of the time it could run: wall times and means are noisy\n",
			100 * preempted);
}

void report_collections(FILE *f, const struct profile *p)
{
	struct collection_total c = collections_all(&p->collections);
	char ns[FIGURE], longest[FIGURE];

	fprintf(f, "%" PRIu64 " collection%s, %s, longest %s; %" PRIu64 " object%s collected", c.n, plural(c.n, "s"),
		figure_span(ns, c.ns), figure_span(longest, c.longest_ns), c.collected, plural(c.collected, "s"));
}

#define KINDS 4 /* of waits: "process 99.9 ms, " of each, in 80 columns */

/* What threads waited, but no call tells for what: without it the kinds would not add up to all. 0: hardly any. */
static uint64_t untold_ns(const struct profile *p)
{
	uint64_t waiting = profile_has_cpu(p) ? p->traced_off.waiting_ns : 0, told = waits_ns(&p->all_waits);

	return waiting > told && waiting - told >= waiting / 100 ? waiting - told : 0;
}

void report_waits(FILE *f, const struct profile *p)
{
	struct waits all = waits_minus(&p->all_waits, &p->idle_waits);
	uint64_t least = waits_ns(&all) / 100, idle = waits_ns(&p->idle_waits), untold = untold_ns(p);
	const char *before = "";
	enum wait_kind kind;
	char text[FIGURE];

	for (int n = 0; n < KINDS - !!idle - !!untold && (kind = waits_most(&all)) && all.of[kind].ns >= least; n++) {
		fprintf(f, "%s%s %s", before, wait_name(kind), figure_span(text, all.of[kind].ns));
		all.of[kind].ns = 0;
		before = ", ";
	}
	if (!*before && !idle && !untold)
		fputs("none", f);
	if (untold)
		fprintf(f, "%snot told %s", before, figure_span(text, untold));
	if (idle)
		fprintf(f, "%sidle workers %s", *before || untold ? "; " : "", figure_span(text, idle));
}

bool report_has_waits(const struct profile *p)
{
	return waits_ns(&p->all_waits) || untold_ns(p);
}

/* "3.13.0; mode adaptive, markers software": of the version what comes before the date of the build. */
static void write_python(const struct report *r, const struct process *root)
{
	const char *python = root->python ? root->python : "not known", *end = strstr(python, " (");
	char text[VERSION];

	snprintf(text, sizeof(text), "%.*s; mode %s, markers %s", end ? (int)(end - python) : VERSION / 2, python,
		 root->mode ? root->mode : "not known", root->backend ? root->backend : "not known");
	write_field(r, "Python", text);
}

void report_head(const struct report *r)
{
	const struct process *root = profile_root(r->p);
	uint64_t n = 0;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		n += r->p->events[op];
	fputs(r->c->title, r->f);
	write_field(r, "Program", root ? root->argv : NULL);
	fputs(r->c->plain, r->f);
	if (root)
		write_python(r, root);
	if (root && root->jit)
		write_jit(r, root->python);
	fputs("Clock    ", r->f);
	report_clock(r->f, r->p);
	fputc('\n', r->f);
	if (!n)
		fputs("Trace    no event\n", r->f);
	else
		write_trace(r, n);
	if (n)
		write_time(r);
	write_noise(r);
	if (root && root->waits_unseen && !waits_ns(&r->p->all_waits)) {
		write_field(r, "Waits", "not known: the interpreter's calls are not seen (docs/waits.md)");
	} else if (report_has_waits(r->p)) {
		fputs("Waits    ", r->f);
		report_waits(r->f, r->p);
		fputc('\n', r->f);
	}
	if (profile_has_untold(r->p))
		write_field(r, "Switches", GREENLETS_UNTOLD);
	if (collections_all(&r->p->collections).n) {
		fputs("GC       ", r->f);
		report_collections(r->f, r->p);
		fputc('\n', r->f);
	}
	if (r->p->exceptions.n) {
		fputs("Raised   ", r->f);
		report_exceptions(r->f, r->p);
		fputc('\n', r->f);
	}
	if (r->p->imports.first) {
		fputs("Imports  ", r->f);
		report_imports(r->f, r->p);
		fputc('\n', r->f);
	}
	if (r->p->duty.period_ns)
		write_duty(r);
	report_calls(r);
}

static void write_untraced(const struct report *r)
{
	for (struct map_slot *s = NULL; (s = map_next(&r->p->codes->processes, s));) {
		const struct process *process = s->value;

		if (!process->untraced)
			continue;
		fprintf(r->f, "          process %d: ", process->pid);
		text_plain(r->f, process->untraced);
		fputc('\n', r->f);
	}
}

static void write_skipped(const struct report *r)
{
	uint64_t n = profile_skipped(r->p);

	if (n)
		fprintf(r->f, "%8" PRIu64 "  %s\n", n, losses_skipped(n));
}

static void write_unmatched(const struct report *r)
{
	const struct unmatched *u = codes_unmatched(r->p->codes, NULL);

	if (u)
		write_title(r, "Matched nothing");
	for (; u; u = codes_unmatched(r->p->codes, u)) {
		char *text = losses_unmatched(u, UNMATCHED_COLUMNS);

		fprintf(r->f, "  %s\n", text ? text : u->pattern);
		free(text);
	}
}

void report_losses(const struct report *r)
{
	struct loss rows[LOSSES];

	if (!losses_of(r->p, rows)) {
		fprintf(r->f, "\nNothing was lost.\n");
		write_skipped(r);
		write_unmatched(r);
		return;
	}
	write_title(r, "Lost or uncertain");
	for (int i = 0; i < LOSSES; i++)
		if (rows[i].count)
			fprintf(r->f, "%8" PRIu64 "  %s\n", rows[i].count, rows[i].what);
	write_untraced(r);
	write_skipped(r);
	write_unmatched(r);
}
