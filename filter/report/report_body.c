// SPDX-License-Identifier: MIT
/*
 * The details of a loop. Users know and grep the form of the title and of the lines up to "cycles"; what qualifies a
 * number stands behind it.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/body.h"
#include "report_write.h"
#include "code/specialization.h"
#include "base/text.h"

#define SOURCE_LINES 16 /* of a loop, at most */

static void write_name(const struct report *r, const struct loop *loop, const struct instr *instr)
{
	const struct process *p = loop->code->process;

	write_form(r, process_opname(p, instr->base),
		   instr->adaptive != instr->base ? process_opname(p, instr->adaptive) : NULL);
}

/* In a precise recording every one does: the legend says so. */
static bool stayed_base(const struct report *r, const struct loop *loop, const struct instr *instr)
{
	return !profile_instrumented(r->p) && specialization_known(loop->code) &&
	       specialized_of(loop->code, instr) == SPECIALIZED_NOT;
}

static void write_stayed(const struct report *r, const struct loop *loop, const struct instr *instr)
{
	if (stayed_base(r, loop, instr))
		fprintf(r->f, " %s(stayed base)%s", r->c->faint, r->c->plain);
}

/* What is known of it as a whole stands at its first instruction. */
static void write_block(FILE *f, const struct body_row *row)
{
	if (!row->block || !row->block->cycles.n)
		fputs("not timed", f);
	else if (!row->first_of_block)
		fprintf(f, "block %u", row->block_number);
	else
		fprintf(f, "block %u: ~%.0f cycles a trip", row->block_number, body_block_cycles(row->block));
}

static void write_cycles(FILE *f, const struct loop *loop, const struct body_row *row)
{
	const struct callback *callback = &loop->code->process->callbacks[OP_INSTRUCTION];

	if (!row->known)
		fputs("no event", f);
	else
		fprintf(f, "~%.0f cycles", row->cycles);
	if (!row->known || !callback->most)
		return;
	if (callback->least == callback->most)
		fprintf(f, " (callback ~%" PRIu64 ")", callback->most);
	else
		fprintf(f, " (callback %" PRIu64 " to %" PRIu64 ")", callback->least, callback->most);
}

/* What else happened to the instruction than being specialised once, in a line of its own. */
static void write_changes(const struct report *r, const struct body_row *row)
{
	struct form_counts c = { 0 };
	const char *before = "\n      (";

	if (row->cost)
		c = forms_of(row->cost);
	if (!forms_changed(&c))
		return;
	fputs(r->c->faint, r->f);
	for (int i = FORMS_BASE; i < FORMS_COUNTS; i++)
		if (c.n[i]) {
			fprintf(r->f, "%s%s %" PRIu64, before, forms_names[i], c.n[i]);
			before = ", ";
		}
	fprintf(r->f, ")%s", r->c->plain);
}

static void write_legend(const struct report *r, const struct loop *loop, const struct body_row *rows)
{
	const struct code *code = loop->code;
	const struct callback *jump = &code->process->callbacks[OP_JUMP];

	if (rows->measured && !profile_instrumented(r->p)) {
		fprintf(r->f,
			"Cycles run to the thread's next instruction, through calls. Nothing was\ninstrumented for "
			"it%s.\n",
			profile_specializes(r->p) ? ": specialization was left on" : "");
		return;
	}
	if (rows->measured) {
		fprintf(r->f,
			"Cycles run to the thread's next instruction, through calls, with one "
			"callback\n(a trip has %.1f). Base opcodes ran: INSTRUCTION events prevent "
			"specialization.\n",
			loop->cycles.n ? (double)loop->uops / loop->cycles.n : 0);
		return;
	}
	fputs("Blocks were timed as a whole, with their calls and without inner loops; no\ninstruction was.", r->f);
	if (jump->most) {
		fputs(" A trip contains one JUMP callback of ", r->f);
		write_callback(r, jump);
		fputc('.', r->f);
	}
	fputc('\n', r->f);
	if (!specialization_known(code))
		fputs("Specialized opcodes are not known: they are read at an orderly stop.\n", r->f);
}

/* "mean 28.1, median 3, p99 141, min 1, max 141" */
static void write_stat(FILE *f, const struct stat_sum *s)
{
	fprintf(f, "mean %.1f, median %" PRIu64 ", p99 %" PRIu64 ", min %" PRIu64 ", max %" PRIu64, stat_mean(s),
		stat_quantile(s, 0.5), stat_quantile(s, 0.99), s->min, s->max);
}

/* "entered 9996 times, trips of each: mean 28.1, ...", and how long trips took. */
static void write_trips(const struct report *r, const struct loop *loop)
{
	const struct stat_sum *s = &loop->trips;

	fprintf(r->f, "entered %" PRIu64 " time%s", loop->entries, loop->entries == 1 ? "" : "s");
	if (s->n) {
		fputs(", trips of each: ", r->f);
		write_stat(r->f, s);
	}
	if (s->n < loop->entries)
		fprintf(r->f, "%s%" PRIu64 " of them %s not seen to end", s->n ? "\n" : ", ", loop->entries - s->n,
			loop->entries - s->n == 1 ? "was" : "were");
	fputc('\n', r->f);
	if (!loop->cycles.n)
		return;
	fputs("cycles of a trip: ", r->f);
	write_stat(r->f, &loop->cycles);
	fputs(stat_exact(&loop->cycles) ? "\n" : "\n  median and p99 within 1/16: there are more than 32 values\n",
	      r->f);
	if (r->p->coarse)
		fputs("  of interpolated times: of short trips only the mean holds\n", r->f);
}

static void write_loop_title(const struct report *r, const struct loop *loop)
{
	FILE *f = r->f;

	fputc('\n', f);
	text_plain(f, loop->code->qualname);
	fputs(", ", f);
	text_plain(f, loop->code->file);
	if (loop->line)
		fprintf(f, ":%d", loop->line);
	fprintf(f, "\noffsets %" PRId64 " to %" PRId64, loop->head, loop->extent.body);
	if (loop->uops)
		fprintf(f, ", %.1f bytecodes a trip", (double)loop->uops / loop->cycles.n);
	fputc('\n', f);
}

static int by_line(const void *left, const void *right)
{
	const struct body_row *a = left, *b = right;

	return (a->instr->line > b->instr->line) - (a->instr->line < b->instr->line);
}

static void write_line(const struct report *r, const struct source *source, int64_t number)
{
	const char *line = source_line(source, number);

	if (!line)
		return;
	fprintf(r->f, "%6" PRId64 "  ", number);
	text_source(r->f, line, r->width - 8);
	fputc('\n', r->f);
}

/* The source lines of the instructions. Sorts a copy of the rows. */
static int write_source(struct report *r, const struct loop *loop, const struct body_row *rows, size_t n)
{
	const struct source *source = sources_get(&r->sources, loop->code->file, loop->code->process->realtime_ns);
	struct body_row *sorted = calloc(n + 1, sizeof(*sorted));
	int64_t last = 0;

	if (!source || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, rows, n * sizeof(*rows));
	qsort(sorted, n, sizeof(*sorted), by_line);
	for (size_t i = 0, lines = 0; i < n && !source->why && lines < SOURCE_LINES; i++) {
		if (sorted[i].instr->line <= last)
			continue;
		last = sorted[i].instr->line;
		write_line(r, source, last);
		lines++;
	}
	if (source->why)
		fprintf(r->f, "its source is not shown: %s\n", source->why);
	free(sorted);
	return 0;
}

/* What is counted. "Hardware CPU Cycles" are a processor's own, and nothing else. */
static const char *counted(const struct profile *p)
{
	const struct {
		const char *clock, *words;
	} clocks[] = {
		{ "core", "Hardware CPU Cycles" },
		{ "tsc", p->coarse ? "Interpolated TSC Cycles" : "TSC Cycles" },
		{ "emulated", "Emulated Cycles" },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcmp(p->clock, clocks[i].clock))
			return clocks[i].words;
	return "Cycles of 1 ns";
}

static void write_rows(const struct report *r, const struct loop *loop, const struct body_row *rows, size_t n,
		       size_t most)
{
	fprintf(r->f, "%s[Ocular] Trace Disassembly with %s (Base -> Specialized):%s\n", r->c->title, counted(r->p),
		r->c->plain);
	for (size_t i = 0; i < n && i < most; i++) {
		fprintf(r->f, "[%03zu] offset %u : ", i, rows[i].instr->offset);
		write_name(r, loop, rows[i].instr);
		fputs(" | ", r->f);
		if (rows[i].measured)
			write_cycles(r->f, loop, &rows[i]);
		else
			write_block(r->f, &rows[i]);
		write_stayed(r, loop, rows[i].instr);
		write_changes(r, &rows[i]);
		fputc('\n', r->f);
	}
	if (n > most)
		fprintf(r->f, "%zu more instructions: --loops 1, or the HTML page, shows them all\n", n - most);
	write_legend(r, loop, rows);
}

int report_body(struct report *r, const struct summed *s, size_t most)
{
	const struct loop *loop = s->loop;
	char details[SUMMED_DETAILS];
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n;
	int err = 0;

	if (!rows)
		return -ENOMEM;
	n = body_rows(loop, rows, loop->code->ninstrs);
	write_loop_title(r, loop);
	if (*summed_details(s, details))
		fprintf(r->f, "%s\n", details);
	write_trips(r, loop);
	report_paths(r, loop);
	if (n) {
		err = write_source(r, loop, rows, n);
		write_rows(r, loop, rows, n, most);
	} else {
		fputs("Its bytecode is in no code table.\n", r->f);
	}
	free(rows);
	return err;
}
