// SPDX-License-Identifier: MIT
/* All of it is written at the end, from the profile: nothing is done while the trace goes by. */
#include "sink_console.h"

#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "sink_file.h"

#define FUNCTIONS 10 /* rows of the table of functions */

struct console {
	struct sink_file file;
	unsigned loops;
	const struct paint *paint;
};

static const struct paint colors = { "\033[1m", "\033[32m", "\033[0m" };
static const struct paint no_colors = { "", "", "" };

/* What takes less of the traced time than this is left out, unless it is the most there is. */
#define SHARE_ROW  0.001
#define SHARE_BODY 0.01

/* How many of the n loops, which come sorted, to show: at most `most`. */
static size_t worth(const struct profile *p, struct loop *const *loops, size_t n, size_t most,
		    double share)
{
	size_t i = 0;

	while (i < n && i < most && (i == 0 || profile_share(p, loops[i]) >= share))
		i++;
	return i;
}

static int write_loops(FILE *f, const struct console *c, const struct profile *p)
{
	size_t n = 0, bodies;
	struct loop **loops = profile_loops(p, &n);
	int err = loops ? 0 : -ENOMEM;

	if (err)
		return err;
	report_loops(f, p, loops, worth(p, loops, n, 2 * c->loops, SHARE_ROW), c->paint);
	bodies = worth(p, loops, n, c->loops, SHARE_BODY);
	for (size_t i = 0; i < bodies && !err; i++)
		err = report_body(f, loops[i], c->paint);
	free(loops);
	return err;
}

static int write_functions(FILE *f, const struct console *c, const struct profile *p)
{
	size_t n = 0, rows = 0;
	struct code **functions = profile_functions(p, &n);

	if (!functions)
		return -ENOMEM;
	while (rows < n && rows < FUNCTIONS &&
	       (!rows || functions[rows]->function->self_ns >= SHARE_ROW * p->traced_ns))
		rows++;
	report_functions(f, p, functions, rows, c->paint);
	free(functions);
	return 0;
}

static int write_report(FILE *f, struct sink *s, const struct profile *p)
{
	const struct console *c = (struct console *)s;
	int err;

	report_head(f, p, c->paint);
	err = write_loops(f, c, p);
	if (!err)
		err = write_functions(f, c, p);
	report_losses(f, p, c->paint);
	return err;
}

static int console_finish(struct sink *s, const struct profile *p)
{
	int err = sink_file_render(s, write_report, p);

	return err ? err : sink_file_close(s);
}

static const struct sink_ops console_ops = {
	.finish = console_finish,
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
	c->paint = o->color ? &colors : &no_colors;
	return 0;
}
