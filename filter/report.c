// SPDX-License-Identifier: MIT
/*
 * Tables of at most 100 columns: numbers first, in columns as wide as they can get, names last, so
 * that a long one harms no column.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "figure.h"
#include "losses.h"
#include "text.h"

#define LOOP_PLACE     29 /* columns left for the name of a loop, and of a function */
#define FUNCTION_PLACE 60

static void write_number(FILE *f, double n)
{
	char text[FIGURE];

	fprintf(f, " %7s", figure_brief(text, n));
}

static void write_duration(FILE *f, uint64_t ns)
{
	char text[FIGURE];

	fprintf(f, " %10s", figure_duration(text, ns));
}

/* The last `most` characters of UTF-8 text. */
static const char *tail(const char *text, size_t most)
{
	const char *s = text + strlen(text);

	while (s > text && most > 0)
		most -= (*--s & 0xc0) != 0x80;
	return s;
}

/* "QUALNAME, FILE:LINE"; without a line "QUALNAME, FILE, offset N"; without that, too, no more. */
static void write_name(FILE *f, const struct code *code, int64_t line, int64_t offset)
{
	const char *slash = strrchr(code->file, '/');

	text_plain(f, code->qualname);
	fputs(", ", f);
	text_plain(f, slash ? slash + 1 : code->file);
	if (line > 0)
		fprintf(f, ":%" PRId64, line);
	else if (offset >= 0)
		fprintf(f, ", offset %" PRId64, offset);
}

/* The last column: what does not fit into `most` characters loses its beginning. */
static void write_place(FILE *f, const struct code *code, int64_t line, int64_t offset, size_t most)
{
	char *name = NULL;
	size_t size;
	FILE *m = open_memstream(&name, &size);

	if (m)
		write_name(m, code, line, offset);
	if (m && !fclose(m) && tail(name, most) > name)
		fprintf(f, "  ...%s\n", tail(name, most - 3));
	else
		fprintf(f, "  %s\n", name ? name : "");
	free(name);
}

static void write_title(FILE *f, const char *title, const struct paint *c)
{
	fprintf(f, "\n%s%s%s\n", c->title, title, c->plain);
}

static void write_field(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%-9s", name);
	text_plain(f, value ? value : "not known");
	fputc('\n', f);
}

void report_clock(FILE *f, const struct profile *p)
{
	static const struct {
		const char *clock, *words;
	} clocks[] = {
		{ "ns", "nanoseconds: the recording names no clock frequency" },
		{ "core", "of the core, exact: the sums of its CYC packets" },
		{ "emulated", "of the emulated core: one an instruction" },
	};

	const char *words = p->clock;

	if (p->clock_hz) {
		fprintf(f, "of the %s clock, %.3f GHz", p->clock, p->clock_hz / 1e9);
		return;
	}
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcmp(p->clock, clocks[i].clock))
			words = clocks[i].words;
	fputs(words, f);
}

static const char *plural(uint64_t n, const char *ending)
{
	return n == 1 ? "" : ending;
}

static void write_trace(FILE *f, const struct profile *p, uint64_t n)
{
	char span[FIGURE], sum[FIGURE];

	fprintf(f,
		"Trace    %" PRIu64 " event%s, %" PRIu64 " thread%s, %" PRIu64
		" process%s; %s from first to last, %s summed over threads\n",
		n, plural(n, "s"), p->threads, plural(p->threads, "s"), p->processes,
		plural(p->processes, "es"), figure_duration(span, p->end_ns - p->start_ns),
		figure_duration(sum, p->traced_ns));
}

void report_head(FILE *f, const struct profile *p, const struct paint *c)
{
	const struct process *root = profile_root(p);
	uint64_t n = 0;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		n += p->events[op];
	fprintf(f, "%sOcular%s\n", c->title, c->plain);
	if (root) {
		write_field(f, "Program", root->argv);
		write_field(f, "Python", root->python);
		write_field(f, "Mode", root->mode);
		write_field(f, "Markers", root->backend);
	}
	fputs("Cycles   ", f);
	report_clock(f, p);
	fputc('\n', f);
	if (!n)
		fputs("Trace    no event\n", f);
	else
		write_trace(f, p, n);
}

static void write_loop(FILE *f, const struct profile *p, const struct loop *loop)
{
	const struct stat_sum *s = &loop->cycles;
	const double columns[] = {
		loop->iterations,	loop->entries, stat_mean(s), stat_quantile(s, 0.5),
		stat_quantile(s, 0.99), s->min,	       s->max,
	};
	size_t i, all = sizeof(columns) / sizeof(columns[0]), n = s->n ? all : 2;

	fprintf(f, "%5.1f%% %5.1f%%", 100 * profile_share(p, loop), 100 * profile_own_share(p, loop));
	for (i = 0; i < n; i++)
		write_number(f, columns[i]);
	for (; i < all; i++)
		fprintf(f, " %7s", "-");
	write_place(f, loop->code, loop_line(loop), loop->head, LOOP_PLACE);
}

void report_loops(FILE *f, const struct profile *p, struct loop *const *loops, size_t n,
		  const struct paint *c)
{
	if (!n) {
		fputs("\nNo loops: no back-edge was seen "
		      "(modes adaptive, precise and full record them).\n",
		      f);
		return;
	}
	write_title(f, "Hottest loops                                   cycles of a trip", c);
	fprintf(f, " share    own   trips entries    mean  median     p99     min     max  loop\n");
	for (size_t i = 0; i < n; i++)
		write_loop(f, p, loops[i]);
}

static void write_function(FILE *f, const struct profile *p, const struct code *code)
{
	const struct function *fn = code->function;

	fprintf(f, "%5.1f%%", p->traced_ns ? 100.0 * fn->self_ns / p->traced_ns : 0);
	write_duration(f, fn->self_ns);
	write_duration(f, fn->total_ns);
	write_number(f, fn->calls);
	write_place(f, code, code->firstlineno, SAMPLE_NOWHERE, FUNCTION_PLACE);
}

void report_functions(FILE *f, const struct profile *p, struct code *const *functions, size_t n,
		      const struct paint *c)
{
	if (!n)
		return;
	write_title(f, "Functions with most time of their own", c);
	fprintf(f, " share       self      total   calls  function\n");
	for (size_t i = 0; i < n; i++)
		write_function(f, p, functions[i]);
}

static void write_untraced(FILE *f, const struct profile *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *process = s->value;

		if (!process->untraced)
			continue;
		fprintf(f, "          process %d: ", process->pid);
		text_plain(f, process->untraced);
		fputc('\n', f);
	}
}

void report_losses(FILE *f, const struct profile *p, const struct paint *c)
{
	struct loss rows[LOSSES];

	if (!losses_of(p, rows)) {
		fprintf(f, "\nNothing was lost.\n");
		return;
	}
	write_title(f, "Lost, or in doubt", c);
	for (int i = 0; i < LOSSES; i++)
		if (rows[i].count)
			fprintf(f, "%8" PRIu64 "  %s\n", rows[i].count, rows[i].what);
	write_untraced(f, p);
}
