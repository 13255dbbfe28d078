// SPDX-License-Identifier: MIT
#include "summary_paths.h"

#include "base/value.h"
#include "model/paths.h"

static struct value *lines(const struct way *w)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < w->nlines && i < PATH_LINES; i++)
		array = value_append(array, value_integer(w->lines[i]));
	return array;
}

static struct value *row(const struct path *path)
{
	const struct value_number counts[] = {
		{ "trips", path->trips },
		{ "timed", path->timed },
		{ "ns", path->ns },
		{ "cycles", path->cycles },
	};
	struct value *where = value_pack("{s:o, s:b}", "lines", lines(&path->way), "all_lines",
					 path->way.nlines <= PATH_LINES);

	return value_join(VALUE_NUMBERS(counts), where);
}

static struct value *rows(const struct paths *p)
{
	struct value *array = value_array();
	uint32_t order[PATHS_MAX];

	paths_order(p, order);
	for (uint32_t i = 0; i < p->n; i++)
		array = value_append(array, row(&p->path[order[i]]));
	return array;
}

struct value *summary_paths(const struct profile *p, const struct loop *loop)
{
	if (!loop->paths || !paths_recorded(p->events))
		return value_null();
	return value_pack("{s:I, s:I, s:I, s:o}", "known", (int64_t)paths_known(loop->paths), "others",
			  (int64_t)loop->paths->others, "unknown", (int64_t)loop->paths->unknown, "rows",
			  rows(loop->paths));
}
