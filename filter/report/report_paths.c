// SPDX-License-Identifier: MIT
/* The ways through a loop's body, most trips first, each with the source lines that it reached. */
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
		fputs("its ways through the body are not known: "
		      "modes precise and full record what tells them\n",
		      r->f);
		return;
	}
	fprintf(r->f, "ways through the body, of %" PRIu64 " trips", known);
	if (p->unknown)
		fprintf(r->f, "; of %" PRIu64 " more it is not known", p->unknown);
	fputs(":\n", r->f);
	paths_order(p, order);
	for (uint32_t i = 0; i < p->n; i++)
		write_path(r->f, &p->path[order[i]], known);
	if (p->others)
		fprintf(r->f, "%5.1f%% %7" PRIu64 " trips  on more than these %d ways\n", 100.0 * p->others / known,
			p->others, PATHS_MAX);
}
