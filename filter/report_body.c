// SPDX-License-Identifier: MIT
/*
 * A loop taken apart. The form of the title and of the lines up to "cycles" is what users of Ocular
 * know and grep for; what qualifies a number stands behind it.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "body.h"
#include "text.h"

static void write_name(FILE *f, const struct loop *loop, const struct instr *instr,
		       const struct paint *c)
{
	const struct process *p = loop->code->process;

	fputs(process_opname(p, instr->base), f);
	if (instr->adaptive != instr->base)
		fprintf(f, " -> %s%s%s", c->special, process_opname(p, instr->adaptive), c->plain);
}

static void write_cycles(FILE *f, const struct loop *loop, const struct body_row *row)
{
	uint64_t callback = loop->code->process->callback_cycles[OP_INSTRUCTION];

	if (!row->known)
		fputs(row->measured ? "no event" : "not timed", f);
	else
		fprintf(f, "~%.0f cycles", row->cycles);
	if (row->known && !row->measured)
		fputs(" *", f);
	if (row->known && row->measured && callback)
		fprintf(f, " (callback ~%" PRIu64 ")", callback);
}

static void write_legend(FILE *f, const struct loop *loop, const struct body_row *rows)
{
	const struct code *code = loop->code;
	uint64_t jump = code->process->callback_cycles[OP_JUMP];

	if (rows->measured) {
		fprintf(f,
			"Cycles run to the thread's next instruction, through calls, one callback "
			"included;\na trip includes %.1f. Base opcodes ran: INSTRUCTION events "
			"prevent specialization.\n",
			loop->cycles.n ? (double)loop->uops / loop->cycles.n : 0);
		return;
	}
	fputs("* average over the block: a trip's cycles, calls included, over its instructions\n",
	      f);
	if (jump)
		fprintf(f, "  a trip contains one JUMP callback of ~%" PRIu64 " cycles\n", jump);
	if (!code->final)
		fputs("  specialized opcodes are not known: they are read at an orderly stop\n", f);
}

static void write_title(FILE *f, const struct loop *loop)
{
	fputc('\n', f);
	text_plain(f, loop->code->qualname);
	fputs(", ", f);
	text_plain(f, loop->code->file);
	if (loop_line(loop))
		fprintf(f, ":%d", loop_line(loop));
	fprintf(f, ": offsets %" PRId64 " to %" PRId64, loop->head, loop->end);
	if (loop->uops)
		fprintf(f, ", %.1f bytecodes a trip", (double)loop->uops / loop->cycles.n);
	fputc('\n', f);
}

static void write_rows(FILE *f, const struct loop *loop, const struct body_row *rows, size_t n,
		       const struct paint *c)
{
	fprintf(f,
		"%s[Ocular] Trace Disassembly with Hardware CPU Cycles (Base -> Specialized):%s\n",
		c->title, c->plain);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "[%03zu] offset %u : ", i, rows[i].instr->offset);
		write_name(f, loop, rows[i].instr, c);
		fputs(" | ", f);
		write_cycles(f, loop, &rows[i]);
		fputc('\n', f);
	}
	write_legend(f, loop, rows);
}

int report_body(FILE *f, const struct loop *loop, const struct paint *c)
{
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n;

	if (!rows)
		return -ENOMEM;
	n = body_rows(loop, rows, loop->code->ninstrs);
	write_title(f, loop);
	if (n)
		write_rows(f, loop, rows, n, c);
	else
		fputs("Its bytecode is in no code table.\n", f);
	free(rows);
	return 0;
}
