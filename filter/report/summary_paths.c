// SPDX-License-Identifier: MIT
#include "summary_paths.h"

#include "base/json.h"
#include "model/paths.h"

static json_t *lines(const struct way *w)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < w->nlines && i < PATH_LINES; i++)
		json_array_append_new(array, json_integer(w->lines[i]));
	return array;
}

static json_t *row(const struct path *path)
{
	const struct json_number counts[] = {
		{ "trips", path->trips },
		{ "timed", path->timed },
		{ "ns", path->ns },
		{ "cycles", path->cycles },
	};
	json_t *where = json_pack("{s:o, s:b}", "lines", lines(&path->way), "all_lines",
				  path->way.nlines <= PATH_LINES);

	return json_join(JSON_NUMBERS(counts), where);
}

static json_t *rows(const struct paths *p)
{
	json_t *array = json_array();
	uint32_t order[PATHS_MAX];

	paths_order(p, order);
	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(array, row(&p->path[order[i]]));
	return array;
}

json_t *summary_paths(const struct profile *p, const struct loop *loop)
{
	if (!loop->paths || !paths_recorded(p->events))
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:o}", "known", (json_int_t)paths_known(loop->paths), "others",
			 (json_int_t)loop->paths->others, "unknown", (json_int_t)loop->paths->unknown, "rows",
			 rows(loop->paths));
}
