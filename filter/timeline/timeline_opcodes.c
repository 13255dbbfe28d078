// SPDX-License-Identifier: MIT
/*
 * Instructions, in a time window of a recording of mode opcodes: a line of its own below its thread's, and no more than
 * anybody reads.
 */
#include "timeline_parts.h"

/* The running instruction has ended. */
static int write_opcode(struct timeline *v, struct track *t, uint64_t ns, uint64_t cycles)
{
	struct running *r = &t->running;

	if (!r->code || ns < r->shown || cycles < r->cycles)
		return 0;
	if (ns - r->shown < v->min_ns) {
		v->shorter.others++;
		return 0;
	}
	if (v->full) {
		v->beyond.others++;
		return 0;
	}
	if (v->opcodes == TIMELINE_OPCODES) {
		if (!v->unshown++) {
			v->unshown_track = t;
			v->unshown_ns = t->last_ns;
		}
		return 0;
	}
	v->opcodes++;
	t->last_ns = ns;
	return timeline_settle(v, t, v->format->opcode(v, t, r, ns, cycles - r->cycles), &v->beyond.others);
}

int timeline_show_opcode(struct timeline *v, struct track *thread, const struct sample *s)
{
	struct track *t = timeline_line_of(v, thread, LINE_OPCODES);
	uint64_t ns = timeline_since_start(v, s->time);
	uint32_t i = code_index(s->code, s->offset);
	int err;

	if (!t)
		return thread->tid < 0 ? 0 : sink_file_no_memory(&v->file.sink);
	err = write_opcode(v, t, ns, s->cycles);
	t->running = (struct running){ .opcode = s->opcode, .shown = ns, .cycles = s->cycles };
	if (i < s->code->ninstrs) {
		t->running.code = s->code;
		t->running.instr = &s->code->instrs[i];
	}
	return err;
}

int timeline_report_unshown(struct timeline *v)
{
	struct mark mark = { .category = "limit",
			     .name = "LEFT OUT: opcodes",
			     .n = 2,
			     .args = { { "limit", TIMELINE_OPCODES }, { "opcodes", v->unshown } } };
	int err = v->unshown ? v->format->mark(v, v->unshown_track, v->unshown_ns, &mark) : 0;

	return err == TIMELINE_FULL ? 0 : err;
}
