// SPDX-License-Identifier: MIT
/* Everything is written at the end, from the profile; nothing happens while the trace is read. */
#include "sink_console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "model/sink_file.h"

#define SPECIALIZED  10 /* rows of the table of specialization */
#define SPANS	     10 /* of the program's own; and of tasks and requests */
#define WAITING	     5	/* of the functions that wait */
#define RAISED	     10 /* of the places where exceptions were raised */
#define OPCODES	     10 /* default rows of a table of opcodes, and of pairs, */
#define DETAILS	     5	/* which are those of so many loops and functions */
#define INSTRUCTIONS 40 /* of the one loop that is disassembled unless more are asked for */

struct console {
	struct sink_file file;
	unsigned loops, width, events_by_code;
	bool unfold, imports;
	const char *request;
	struct parts parts;
	struct opcodes_view opcodes;
	const struct paint *paint;
};

static const struct paint colors = { "\033[1m", "\033[32m", "\033[2m", "\033[0m" };
static const struct paint no_colors = { "", "", "", "" };

/* What share of its own a loop has that is disassembled: of its own accord, and if it was asked for. */
#define SHARE_BODY  0.1
#define SHARE_ASKED 0.01

/* How many of the n loops, which are sorted, to disassemble. */
static size_t count_bodies(const struct report *r, const struct console *c, const struct report_top *top)
{
	bool asked = c->loops != LOOPS_AUTO;
	size_t most = asked ? c->loops : 1, i = 0;

	while (i < top->nloops && i < most &&
	       report_share(r, &top->loops[i]) >= (asked ? i ? SHARE_ASKED : 0 : SHARE_BODY))
		i++;
	return i;
}

static int write_bodies(struct report *r, const struct console *c, const struct report_top *top)
{
	size_t bodies = count_bodies(r, c, top);
	int err = 0;

	for (size_t i = 0; i < bodies && !err; i++)
		err = report_body(r, &top->loops[i], c->loops == LOOPS_AUTO ? INSTRUCTIONS : SIZE_MAX);
	return err;
}

static unsigned details(const struct console *c)
{
	return c->loops == LOOPS_AUTO ? DETAILS : c->loops;
}

static int write_opcodes_of(const struct report *r, const struct console *c, const struct report_top *top)
{
	int err = 0;

	for (size_t i = 0; c->opcodes.wanted && i < top->nloops && i < details(c) && !err; i++)
		err = report_loop_opcodes(r, &c->opcodes, OPCODES, top->loops[i].loop);
	for (size_t i = 0; c->opcodes.wanted && i < top->nfunctions && i < details(c) && !err; i++)
		err = report_function_opcodes(r, &c->opcodes, OPCODES, top->functions[i].code);
	return err;
}

static int write_specialization(const struct report *r)
{
	size_t n = 0;
	struct code **functions = profile_functions(r->p, &n, profile_rank(r->p));
	int err;

	if (!functions)
		return -ENOMEM;
	err = report_specialization(r, SPECIALIZED);
	report_copies(r, functions, n);
	free(functions);
	return err;
}

/* People make a precise recording for its measured opcodes. */
static int write_opcodes(const struct report *r, const struct console *c)
{
	if (!c->opcodes.wanted && opcodes_source(r->p) != OPCODES_MEASURED)
		return 0;
	return report_opcodes(r, &c->opcodes, OPCODES);
}

static int write_events(const struct report *r, const struct console *c)
{
	report_events(r);
	return c->events_by_code ? report_events_by_code(r, c->events_by_code) : 0;
}

/* The head, and how many lines it has. 0 or -ENOMEM. */
static int write_head(const struct report *r, unsigned *lines)
{
	struct report head = *r;
	char *text = NULL;
	size_t size;

	head.f = open_memstream(&text, &size);
	if (!head.f)
		return -ENOMEM;
	report_head(&head);
	if (fclose(head.f)) {
		free(text);
		return -ENOMEM;
	}
	fputs(text, r->f);
	*lines = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		++*lines;
	free(text);
	return 0;
}

static int write_parts(struct report *r, const struct console *c, const struct report_top *top)
{
	unsigned lines;
	int err = write_head(r, &lines);

	if (!err && r->by)
		err = report_parts(r, &c->parts, c->loops > 0);
	err = err ?: report_first(r, top, lines, c->loops);
	if (!err)
		report_lookups(r, top);
	err = err ?: report_c_functions(r, top);
	err = err ?: report_spans(r, c->unfold ? SIZE_MAX : SPANS);
	err = err ?: report_requests(r, c->request, c->unfold ? SIZE_MAX : SPANS);
	err = err ?: report_tasks(r, c->unfold ? SIZE_MAX : SPANS);
	err = err ?: report_greenlets(r, c->unfold ? SIZE_MAX : SPANS);
	err = err ?: report_waiting(r, WAITING);
	err = err ?: report_locks(r, WAITING);
	err = err ?: report_gil(r, WAITING);
	err = err ?: report_native(r);
	err = err ?: report_raised(r, c->unfold ? SIZE_MAX : RAISED);
	err = err ?: c->imports ? report_imports_tree(r) : 0;
	err = err ?: write_bodies(r, c, top);
	err = err ?: write_opcodes_of(r, c, top);
	err = err ?: write_specialization(r);
	err = err ?: report_compiled(r);
	err = err ?: report_forms(r);
	err = err ?: write_opcodes(r, c);
	return err ?: write_events(r, c);
}

static int write_report(FILE *f, struct sink *s, const struct profile *p)
{
	const struct console *c = (struct console *)s;
	struct report r = { .f = f,
			    .p = p,
			    .c = c->paint,
			    .by = c->parts.by,
			    .unfold = c->unfold,
			    .width = c->width,
			    .sources.dir = p->codes->dir };
	struct names_seen seen = { 0 };
	struct report_top top = { 0 };
	int err = -ENOMEM;

	r.seen = &seen;
	top.functions = summed_functions(p, &top.nfunctions, !c->unfold);
	top.loops = summed_loops(p, &top.nloops, !c->unfold);
	top.c_functions = summed_c_functions(p, &top.nc_functions);
	if (top.functions && top.loops && top.c_functions)
		err = write_parts(&r, c, &top);
	report_losses(&r);
	summed_free(top.functions, top.nfunctions);
	summed_free(top.loops, top.nloops);
	summed_free(top.c_functions, top.nc_functions);
	sources_free(&r.sources);
	names_forget(&seen);
	return err;
}

static int enter(struct sink *s, const struct activation *a)
{
	return parts_enter(&((struct console *)s)->parts, a);
}

static int leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	(void)how;
	(void)end_cycles;
	return parts_leave(&((struct console *)s)->parts, a, end_ns);
}

static int iterate(struct sink *s, const struct trip *t)
{
	return parts_iterate(&((struct console *)s)->parts, t);
}

static void console_free(struct sink *s)
{
	parts_free(&((struct console *)s)->parts);
	sink_file_free(s);
}

static const struct sink_ops console_ops = {
	.finish = sink_file_finish,
	.render = write_report,
	.free = sink_file_free,
};

/* Only for --by: it takes time for each activation. */
static const struct sink_ops parts_ops = {
	.enter = enter,
	.leave = leave,
	.iterate = iterate,
	.finish = sink_file_finish,
	.render = write_report,
	.free = console_free,
};

int sink_console_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_file_open(out, sizeof(struct console), o->by ? &parts_ops : &console_ops, o, error);
	struct console *c;

	if (err)
		return err;
	c = (struct console *)*out;
	c->loops = o->loops;
	c->unfold = o->unfold;
	c->imports = o->imports;
	c->request = o->request;
	c->parts.by = o->by;
	c->width = o->width > WIDTH_LEAST ? o->width : WIDTH_LEAST;
	c->events_by_code = o->events_by_code;
	if (o->opcodes)
		c->opcodes = *o->opcodes;
	c->paint = o->color ? &colors : &no_colors;
	return 0;
}
