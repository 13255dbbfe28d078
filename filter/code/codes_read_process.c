// SPDX-License-Identifier: MIT
/*
 * Lines about one process after its start: its threads, what its JIT compiled, why it was not traced, how it ended.
 */
#include "codes_read_parts.h"

#include <errno.h>
#include <stdlib.h>

static int read_thread(struct codes *c, struct process *p, json_t *line)
{
	int64_t tid = get_int(line, "tid", -1);
	char *name = get_string(line, "name");

	(void)c;
	if (tid < 0 || !name) {
		free(name);
		return -EINVAL;
	}
	free(map_get(&p->threads, (uint32_t)tid));
	return map_put(&p->threads, (uint32_t)tid, name);
}

static int read_stop(struct codes *c, struct process *p, json_t *line)
{
	size_t i;
	json_t *row;

	(void)c;
	json_array_foreach (json_object_get(line, "markers"), i, row)
		p->emitted += json_integer_value(json_array_get(row, 1));
	p->lost += get_int(line, "lost", 0);
	p->duty.ended_ns = get_int(line, "at_ns", p->duty.ended_ns);
	p->stopped = true;
	return 0;
}

static int read_window(struct codes *c, struct process *p, json_t *line)
{
	int64_t from = get_int(line, "from_ns", -1), at = get_int(line, "at_ns", -1);

	(void)c;
	if (from < 0 || at < from)
		return -EINVAL;
	p->duty.ended_ns = at;
	return 0;
}

static int read_killed(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	p->killed = get_int(line, "signal", 0);
	return p->killed ? 0 : -EINVAL;
}

/* The header was written before the JIT is switched on. */
static int read_jit(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	(void)line;
	p->jit = true;
	return 0;
}

/* Addresses are text: a JSON number is a double to many. */
static uint64_t get_address(json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? strtoull(text, NULL, 16) : 0;
}

static int read_executor(struct codes *c, struct process *p, json_t *line)
{
	int64_t offset = get_int(line, "offset", -1);

	(void)c;
	if (offset < 0)
		return -EINVAL;
	return compiled_add_executor(&p->compiled, get_int(line, "id", 0), offset, get_address(line, "entry"));
}

static int read_compiled(struct codes *c, struct process *p, json_t *line)
{
	const struct compiled_run run = {
		.id = get_int(line, "id", 0),
		.entry = get_address(line, "entry"),
		.n = get_int(line, "count", 0),
		.ns = get_int(line, "ns", 0),
	};

	(void)c;
	return compiled_add_run(&p->compiled, run);
}

static int read_untraced(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	set_string(&p->untraced, line, "reason");
	return p->untraced ? 0 : -EINVAL;
}

static int read_greenlets(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	p->greenlets_untold = json_is_false(json_object_get(line, "told"));
	return 0;
}

const struct line_kind codes_read_process[] = {
	{ "thread", read_thread },
	{ "stop", read_stop },
	{ "window", read_window },
	{ "killed", read_killed },
	{ "jit", read_jit },
	{ "executor", read_executor },
	{ "compiled", read_compiled },
	{ "untraced", read_untraced },
	{ "greenlets", read_greenlets },
	{ 0 },
};
