// SPDX-License-Identifier: MIT
/* Counts of what was recorded: events by kind and by code object, and how base opcodes were specialized. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/figure.h"
#include "report.h"
#include "report_write.h"
#include "summed_rows.h"

#define SECOND 1e9

/* What callbacks of a kind cost: for each code object by its own process's calibration. */
static struct callback callbacks_of(const struct profile *p, unsigned op)
{
	struct callback all = { 0 };

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *process = s->value;

		for (uint32_t i = 0; process->callbacks[op].most && i < process->ncodes; i++)
			if (process->codes[i] && process->codes[i]->function) {
				uint64_t n = process->codes[i]->function->events[op];

				all.least += n * process->callbacks[op].least;
				all.most += n * process->callbacks[op].most;
			}
	}
	return all;
}

/* "~12.3%", or "9.8 to 12.3%". */
static void write_share_of_callbacks(const struct report *r, const struct callback *c)
{
	double whole = r->p->traced_cycles ? r->p->traced_cycles : INFINITY;

	if (c->least == c->most)
		fprintf(r->f, "   ~%.1f%%", 100 * c->most / whole);
	else
		fprintf(r->f, "   %.1f to %.1f%%", 100 * c->least / whole, 100 * c->most / whole);
}

static double rate(const struct profile *p, uint64_t n)
{
	return p->traced_ns ? n * SECOND / p->traced_ns : 0;
}

static void write_kind(const struct report *r, unsigned op)
{
	struct callback cycles = callbacks_of(r->p, op);

	fprintf(r->f, "%-18s %12" PRIu64, sample_op_name(op), r->p->events[op]);
	write_number(r, rate(r->p, r->p->events[op]));
	if (cycles.most)
		write_share_of_callbacks(r, &cycles);
	fputc('\n', r->f);
}

void report_events(const struct report *r)
{
	bool any = false, callbacks = false;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++) {
		any |= r->p->events[op] != 0;
		callbacks |= r->p->events[op] && callbacks_of(r->p, op).most;
	}
	if (!any)
		return;
	write_title(r, callbacks ? "Events                    count  per s  callbacks, both of all threads' time"
				 : "Events                    count  per s of all threads' time");
	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (r->p->events[op])
			write_kind(r, op);
}

static uint64_t events_of(const struct code *code)
{
	uint64_t n = 0;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		n += code->function->events[op];
	return n;
}

/* Most events first; among equals their order in *from. */
struct counted {
	const struct code *code;
	uint64_t n;
	size_t place;
};

static int by_events(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

static void write_events_of(const struct report *r, const struct counted *c)
{
	const char *between = "        ";
	char often[FIGURE];

	write_number(r, c->n);
	write_number(r, rate(r->p, c->n));
	write_place(r, c->code, c->code->firstlineno, SAMPLE_NOWHERE, 14);
	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (c->code->function->events[op]) {
			uint64_t n = c->code->function->events[op];

			fprintf(r->f, "%s%s %" PRIu64 " (%s per s)", between, sample_op_name(op), n,
				figure_brief(often, rate(r->p, n)));
			between = "\n        ";
		}
	fputc('\n', r->f);
}

int report_events_by_code(const struct report *r, size_t most)
{
	size_t n = 0;
	struct code **codes = profile_functions(r->p, &n, RANK_TIME);
	struct counted *all = codes ? calloc(n + 1, sizeof(*all)) : NULL;

	for (size_t i = 0; all && i < n; i++)
		all[i] = (struct counted){ codes[i], events_of(codes[i]), i };
	free(codes);
	if (!all)
		return -ENOMEM;
	qsort(all, n, sizeof(*all), by_events);
	write_title(r, "Code objects with most events");
	fputs("  count  per s  code, per second of all threads' time\n", r->f);
	for (size_t i = 0; i < n && i < most; i++)
		write_events_of(r, &all[i]);
	free(all);
	return 0;
}

static void write_specialization(const struct report *r, const struct specialization *s)
{
	const double columns[] = { s->able, s->specialized, s->base, s->first, s->gained, s->lost, s->changed };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		write_number(r, columns[i]);
}

static void write_rows(const struct report *r, const struct specialized_row *rows, size_t n, size_t most)
{
	struct specialization sum = { 0 };

	write_title(r, "Specialization: instructions that can specialize, that had (did) or had not");
	fputs("(base) at the end; how many already had when first seen (before); changes since\n"
	      "   can    did   base before gained   lost  other  function\n",
	      r->f);
	for (size_t i = 0; i < n; i++) {
		specialization_join(&sum, &rows[i].of);
		if (i >= most || !rows[i].of.able)
			continue;
		write_specialization(r, &rows[i].of);
		write_place(r, rows[i].at.code, rows[i].at.code->firstlineno, SAMPLE_NOWHERE, 49);
	}
	write_specialization(r, &sum);
	fprintf(r->f, "  (all %zu functions)\n", n);
}

/* Precise recordings ran base opcodes; calls and lines show as much of it as adaptive ones. */
int report_specialization(const struct report *r, size_t most)
{
	size_t n;
	struct specialized_row *rows = summed_specialization(r->p, &n);
	bool able = false;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		able |= rows[i].of.able != 0;
	if (n && !profile_instrumented(r->p)) {
		if (able || !rows[0].at.code->process->unspecialized)
			write_rows(r, rows, n, most);
		else
			write_title(r, "Specialization: none, as in any free-threaded CPython before 3.14");
	}
	free(rows);
	return 0;
}
