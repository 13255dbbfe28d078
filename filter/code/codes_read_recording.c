// SPDX-License-Identifier: MIT
/*
 * Lines about the recording as a whole. Several processes may tell the same: one is kept.
 */
#include "codes_read_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static int read_switch(struct codes *c, struct process *p, json_t *line)
{
	int64_t number = get_int(line, "number", 1);

	(void)p;
	if (number > c->switched)
		c->switched = number;
	return 0;
}

/* The same line is in the tables of several processes. */
static int read_piece(struct codes *c, struct process *p, json_t *line)
{
	const char *file = json_string_value(json_object_get(line, "file"));
	int64_t number = get_int(line, "number", 0);

	(void)p;
	if (!file)
		return -EINVAL;
	for (size_t i = 0; i < c->npieces; i++)
		if (c->pieces[i].number == number)
			return 0;
	if (!ARRAY_ONE_MORE(c->pieces, c->npieces))
		return -ENOMEM;
	c->pieces[c->npieces] = (struct piece){ strdup(file), number, get_int(line, "most", 0),
						get_int(line, "words", 0) };
	return c->pieces[c->npieces++].file ? 0 : -ENOMEM;
}

static int read_limit(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	c->limited |= json_object_get(line, "bytes") != NULL;
	c->trimmed |= json_object_get(line, "kept") != NULL;
	return 0;
}

static char **read_strings(json_t *array)
{
	char **all = json_is_array(array) ? calloc(json_array_size(array) + 1, sizeof(*all)) : NULL;
	size_t i, n = 0;
	json_t *v;

	json_array_foreach (array, i, v)
		if (all && json_is_string(v) && (all[n] = strdup(json_string_value(v))))
			n++;
	return all;
}

static struct unmatched *find_unmatched(struct codes *c, const char *option, const char *pattern)
{
	struct unmatched **u = &c->unmatched;

	while (*u && (strcmp((*u)->option, option) || strcmp((*u)->pattern, pattern)))
		u = &(*u)->next;
	if (!*u && (*u = calloc(1, sizeof(**u)))) {
		(*u)->option = strdup(option);
		(*u)->pattern = strdup(pattern);
	}
	return *u;
}

/* Each process has its own line. */
static int read_unmatched(struct codes *c, struct process *p, json_t *line)
{
	const char *option = json_string_value(json_object_get(line, "option"));
	const char *pattern = json_string_value(json_object_get(line, "pattern"));
	struct unmatched *u;

	(void)p;
	if (!option || !pattern)
		return -EINVAL;
	u = find_unmatched(c, option, pattern);
	if (!u || !u->option || !u->pattern)
		return -ENOMEM;
	if (!u->processes++)
		u->nearest = read_strings(json_object_get(line, "nearest"));
	return 0;
}

/* Each process with words in a snapshot has the line: the first one is kept, in order. */
static int read_snapshot(struct codes *c, struct process *p, json_t *line)
{
	uint32_t number = get_int(line, "number", 0);
	struct snapshot *at;

	(void)p;
	if (!number)
		return -EINVAL;
	if (codes_snapshot(c, number))
		return 0;
	if (!ARRAY_ONE_MORE(c->snapshots, c->nsnapshots))
		return -ENOMEM;
	for (at = c->snapshots + c->nsnapshots++; at > c->snapshots && at[-1].number > number; at--)
		*at = at[-1];
	*at = (struct snapshot){
		.number = number,
		.from_ns = get_int(line, "from_ns", 0),
		.at_ns = get_int(line, "at_ns", 0),
		.pid = get_int(line, "pid", 0),
		.tid = get_int(line, "tid", 0),
		.threads = get_int(line, "threads", 0),
		.cut = get_int(line, "cut", 0),
		.words = get_int(line, "words", 0) + get_int(line, "lost", 0),
		.trigger = get_string(line, "trigger"),
		.label = get_string(line, "label"),
		.data = json_dumps(json_object_get(line, "data"), JSON_SORT_KEYS),
		.stack = read_strings(json_object_get(line, "stack")),
	};
	return 0;
}

static int read_native_function(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_function(&c->natives, line);
}

static int read_native_stack(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_stack(&c->natives, line);
}

static int read_native(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_totals(&c->natives, line);
}

const struct line_kind codes_read_recording[] = {
	{ "switch", read_switch },
	{ "piece", read_piece },
	{ "limit", read_limit },
	{ "unmatched", read_unmatched },
	{ "snapshot", read_snapshot },
	{ "native", read_native },
	{ "native_function", read_native_function },
	{ "native_stack", read_native_stack },
	{ 0 },
};
