// SPDX-License-Identifier: MIT
/* Everything is written at the end, from the profile; nothing happens while the trace is read. */
#include "sink_console.h"

#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "model/sink_file.h"

#define FUNCTIONS   10 /* rows of the table of functions, */
#define WAITING	    5  /* and of those that wait */
#define WIDTH_LEAST 80 /* columns */
#define OPCODES	    10 /* default rows of a table of opcodes, and of pairs */

struct console {
	struct sink_file file;
	unsigned loops, width, events_by_code;
	struct opcodes_view opcodes;
	const struct paint *paint;
};

static const struct paint colors = { "\033[1m", "\033[32m", "\033[2m", "\033[0m" };
static const struct paint no_colors = { "", "", "", "" };

/* What takes less of the traced time than this is left out, unless there is nothing larger. */
#define SHARE_ROW  0.001
#define SHARE_BODY 0.01

/* How many of the n loops, which are sorted, to show: at most `most`. */
static size_t worth(const struct profile *p, struct loop *const *loops, size_t n, size_t most, double share)
{
	size_t i = 0;

	while (i < n && i < most && (i == 0 || report_share(p, loops[i]) >= share))
		i++;
	return i;
}

static int write_loops(struct report *r, const struct console *c)
{
	size_t n = 0, bodies;
	struct loop **loops = profile_loops(r->p, &n, profile_rank(r->p));
	int err = loops ? 0 : -ENOMEM;

	if (err)
		return err;
	if (c->loops || !n)
		report_loops(r, loops, worth(r->p, loops, n, 2 * c->loops, SHARE_ROW));
	bodies = worth(r->p, loops, n, c->loops, SHARE_BODY);
	for (size_t i = 0; i < bodies && !err; i++) {
		err = report_body(r, loops[i]);
		if (!err && c->opcodes.wanted)
			err = report_loop_opcodes(r, &c->opcodes, OPCODES, loops[i]);
	}
	free(loops);
	return err;
}

/* How many of the n functions, which are sorted, to show. */
static size_t worth_a_row(const struct profile *p, struct code *const *functions, size_t n)
{
	size_t rows = 0;

	while (rows < n && rows < FUNCTIONS && (!rows || report_self_share(p, functions[rows]) >= SHARE_ROW))
		rows++;
	return rows;
}

static int write_c_functions(const struct report *r)
{
	size_t n = 0;
	struct code **functions = profile_c_functions(r->p, &n, profile_rank(r->p));

	if (!functions)
		return -ENOMEM;
	report_c_functions(r, functions, worth_a_row(r->p, functions, n));
	free(functions);
	return 0;
}

static int write_functions(struct report *r, const struct console *c)
{
	size_t n = 0, rows;
	struct code **functions = profile_functions(r->p, &n, profile_rank(r->p));
	int err = functions ? 0 : -ENOMEM;

	rows = err ? 0 : worth_a_row(r->p, functions, n);
	if (!err) {
		report_functions(r, functions, rows);
		err = write_c_functions(r);
	}
	err = err ? err : report_waiting(r, WAITING);
	if (!err) {
		report_specialization(r, functions, rows, n);
		report_copies(r, functions, n);
	}
	for (size_t i = 0; c->opcodes.wanted && i < rows && i < c->loops && !err; i++)
		err = report_function_opcodes(r, &c->opcodes, OPCODES, functions[i]);
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

static int write_report(FILE *f, struct sink *s, const struct profile *p)
{
	const struct console *c = (struct console *)s;
	struct report r = { .f = f, .p = p, .c = c->paint, .width = c->width };
	int err;

	report_head(&r);
	err = write_loops(&r, c);
	err = err ?: write_functions(&r, c);
	err = err ?: report_compiled(&r);
	err = err ?: report_forms(&r);
	err = err ?: write_opcodes(&r, c);
	err = err ?: write_events(&r, c);
	report_losses(&r);
	sources_free(&r.sources);
	return err;
}

static const struct sink_ops console_ops = {
	.finish = sink_file_finish,
	.render = write_report,
	.free = sink_file_free,
};

int sink_console_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_file_open(out, sizeof(struct console), &console_ops, o, error);
	struct console *c;

	if (err)
		return err;
	c = (struct console *)*out;
	c->loops = o->loops;
	c->width = o->width > WIDTH_LEAST ? o->width : WIDTH_LEAST;
	c->events_by_code = o->events_by_code;
	if (o->opcodes)
		c->opcodes = *o->opcodes;
	c->paint = o->color ? &colors : &no_colors;
	return 0;
}
