// SPDX-License-Identifier: MIT
/* The paths through a loop's body, most trips first, each with its source lines. */
#include "report.h"

#include <inttypes.h>

#include "model/paths.h"

static void write_lines(FILE *f, const struct way *w)
{
	for (uint32_t i = 0; i < w->nlines && i < PATH_LINES; i++)
		fprintf(f, "%s%d", i ? " " : "lines ", w->lines[i]);
	fputs(w->nlines > PATH_LINES ? " ...\n" : "\n", f);
}

static void write_path(FILE *f, const struct path *path, uint64_t known)
{
	fprintf(f, "%5.1f%% %7" PRIu64 " trips", 100.0 * path->trips / known, path->trips);
	if (path->timed)
		fprintf(f, "  ~%.0f cycles  ", (double)path->cycles / path->timed);
	else
		fputs("  not timed  ", f);
	write_lines(f, &path->way);
}

void report_paths(const struct report *r, const struct loop *loop)
{
	const struct paths *p = loop->paths;
	uint64_t known = p ? paths_known(p) : 0;
	uint32_t order[PATHS_MAX];

	if (!p)
		return;
	if (!paths_recorded(r->p->events)) {
		fputs("its paths through the body are not known: "
		      "record in mode precise or full\n",
		      r->f);
		return;
	}
	fprintf(r->f, "paths through the body, of %" PRIu64 " trips", known);
	if (p->unknown)
		fprintf(r->f, "; %" PRIu64 " more not known", p->unknown);
	fputs(":\n", r->f);
	paths_order(p, order);
	for (uint32_t i = 0; i < p->n; i++)
		write_path(r->f, &p->path[order[i]], known);
	if (p->others)
		fprintf(r->f, "%5.1f%% %7" PRIu64 " trips  on other paths than these %d\n", 100.0 * p->others / known,
			p->others, PATHS_MAX);
}
