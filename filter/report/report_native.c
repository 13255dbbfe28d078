// SPDX-License-Identifier: MIT
/* The C functions that Python functions were in, by samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/sampled.h"
#include "report.h"

#define FUNCTIONS   10
#define SYMBOLS	    5
#define SHARE_LEAST 0.01 /* of the samples */
#define SYMBOL	    34	 /* columns */
#define OBJECT	    18

static void write_row(const struct report *r, const struct sampled_row *row, uint64_t all)
{
	const struct native_function *f = row->function;
	const char *last = f ? strrchr(f->object, '/') : NULL;

	write_share(r, row->n, all);
	fprintf(r->f, "  ±%4.1f%% ", 100 * sampled_error(row->n, all));
	write_share(r, row->self, all);
	fputs("    ", r->f);
	text_elided(r->f, f ? f->name : "[not in a code table]", SYMBOL);
	if (last) {
		fputs(", ", r->f);
		text_elided(r->f, last + 1, OBJECT);
	}
	putc('\n', r->f);
}

/* The innermost of those that call one another and nothing else says it all, if it has a name. */
static bool says_more(const struct sampled_row *row, const struct sampled_row *before)
{
	return row->self || row->n != before->n || (before->function && strchr(before->function->name, '+'));
}

static void write_rows(const struct report *r, const struct sampled_row *rows, size_t n, uint64_t all)
{
	size_t written = 0, last = 0;

	for (size_t i = 0; i < n && written < SYMBOLS && rows[i].n >= SHARE_LEAST * all; i++) {
		if (i && !says_more(&rows[i], &rows[last]))
			continue;
		write_row(r, &rows[i], all);
		written++;
		last = i;
	}
}

static int write_function(const struct report *r, const struct sampled_place *place)
{
	const struct code *code = place->code;
	const struct sampled *s = &place->all;
	size_t n = 0;
	struct sampled_row *rows = sampled_rows(s, &r->p->codes->natives, &n);

	if (!rows)
		return -ENOMEM;
	write_share(r, s->n, r->p->samples);
	write_number(r, s->n);
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, 13);
	write_rows(r, rows, n, s->n);
	free(rows);
	return 0;
}

static void write_head(const struct report *r)
{
	const struct natives *n = &r->p->codes->natives;

	write_title(r, "Sampled C functions, by the Python function that ran, of all samples");
	if (n->error) {
		fputs("None: perf_event_open: ", r->f);
		text_plain(r->f, n->error);
		putc('\n', r->f);
	}
	if (r->p->samples)
		fputs(" share samples  Python function\n"
		      " in it   error    self    C function\n",
		      r->f);
}

static void write_notes(const struct report *r)
{
	const struct natives *n = &r->p->codes->natives;

	if (r->p->samples)
		fprintf(r->f, "%" PRIu64 " samples", r->p->samples);
	if (r->p->samples && n->hz) /* else the recorder was killed */
		fprintf(r->f, ", at %" PRIu64 " Hz", n->hz);
	if (r->p->samples)
		fprintf(r->f, " of the CPU time outside of the kernel; %" PRIu64 " in no function.\n",
			r->p->outside_samples);
	if (n->lost)
		fprintf(r->f, "The kernel dropped %" PRIu64 " samples or switches, for lack of room.\n", n->lost);
	if (n->threads_without && !n->error)
		fprintf(r->f, "%" PRIu64 " %s not sampled: no room for their buffers (ulimit -l).\n",
			n->threads_without, n->threads_without == 1 ? "thread was" : "threads were");
}

int report_native(const struct report *r)
{
	size_t n = 0;
	struct sampled_place *all;
	int err = 0;

	if (!profile_is_sampled(r->p))
		return 0;
	all = sampled_places(r->p, &n);
	if (!all)
		return -ENOMEM;
	write_head(r);
	for (size_t i = 0; i < n && i < FUNCTIONS && !err; i++)
		if (!i || all[i].all.n >= SHARE_LEAST * r->p->samples)
			err = write_function(r, &all[i]);
	write_notes(r);
	sampled_places_free(all, n);
	return err;
}
