// SPDX-License-Identifier: MIT
/* Functions whose copies of the bytecode, one for each thread, were specialized differently (copies.h). */
#include <inttypes.h>

#include "base/text.h"
#include "code/copies.h"
#include "report.h"
#include "report_write.h"

#define FUNCTIONS    3 /* the report lists at most that many, */
#define COPIES	     8 /* of each that many copies */
#define INSTRUCTIONS 5 /* and that many instructions */
#define THREADS	     4 /* and of a copy that many threads */

static void write_threads(const struct report *r, const struct process *p, uint32_t number)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->ncopiers; i++) {
		const char *name = process_thread_name(p, (int32_t)p->copiers[i].tid);

		if (p->copiers[i].copy != number || n++ >= THREADS)
			continue;
		fprintf(r->f, "%s%" PRIu32, n > 1 ? ", " : "", p->copiers[i].tid);
		if (name) {
			fputc(' ', r->f);
			text_plain(r->f, name);
		}
	}
	if (n > THREADS)
		fprintf(r->f, " and %u more", n - THREADS);
	fputc('\n', r->f);
}

static void write_copies(const struct report *r, const struct code *code)
{
	for (uint32_t i = 0; i < code->ncopies && i < COPIES; i++) {
		const struct copy *copy = &code->copies[i];
		struct copy_state s = copies_state(code, copy);

		write_number(r, s.specialized);
		write_number(r, s.base);
		fprintf(r->f, "      copy %" PRIu32 ", thread ", copy->number);
		write_threads(r, code->process, copy->number);
	}
	if (code->ncopies > COPIES)
		fprintf(r->f, "  and %" PRIu32 " more copies\n", code->ncopies - COPIES);
}

/* Each form in a line, at the first copy that has it. */
static void write_forms(const struct report *r, const struct code *code, uint32_t at)
{
	const struct instr *in = &code->instrs[at];

	for (uint32_t i = 0; i < code->ncopies; i++) {
		uint8_t form = code->copies[i].forms[at];
		uint32_t before = 0;

		while (before < i && code->copies[before].forms[at] != form)
			before++;
		if (before < i)
			continue;
		fprintf(r->f, "%7" PRIu32 " of %" PRIu32 "  line %" PRId32 ", offset %" PRIu32 " : ",
			copies_having(code, at, form), code->ncopies, in->line, in->offset);
		write_form(r, process_opname(code->process, in->base),
			   form == in->base ? NULL : process_opname(code->process, form));
		fputc('\n', r->f);
	}
}

static void write_instructions(const struct report *r, const struct code *code)
{
	unsigned n = 0;

	for (uint32_t i = 0; (i = copies_differ(code, i)) < code->ninstrs && n < INSTRUCTIONS; i++, n++)
		write_forms(r, code, i);
}

void report_copies(const struct report *r, struct code *const *functions, size_t n)
{
	unsigned shown = 0;

	for (size_t i = 0; i < n && shown < FUNCTIONS; i++) {
		const struct code *code = functions[i];

		if (code->ncopies < 2 || copies_differ(code, 0) == code->ninstrs)
			continue;
		if (!shown++) {
			write_title(r, "Specialization by thread: each has a copy of the bytecode of its own");
			fputs("   did   base  function; copy 0, the main thread's, is always there\n", r->f);
		}
		fprintf(r->f, "%14s", "");
		write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, 14);
		write_copies(r, code);
		write_instructions(r, code);
	}
}
