// SPDX-License-Identifier: MIT
#include "natives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1024u /* functions of a stack */

static uint32_t get_id(json_t *line)
{
	json_int_t id = json_integer_value(json_object_get(line, "id"));

	return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static char *get_text(json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return strdup(text ? text : "");
}

static void free_function(struct native_function *f)
{
	free(f->name);
	free(f->object);
	free(f->build_id);
}

/* As the recorder has it, which ends stacks with it. */
static bool is_interpreter(const char *name)
{
	static const char *const names[] = { "_PyEval_EvalFrameDefault", "_TAIL_CALL_", "_PyEval_Vector" };
	bool is = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is |= !strncmp(name, names[i], strlen(names[i]));
	return is;
}

int natives_read_function(struct natives *n, json_t *line)
{
	uint32_t id = get_id(line);
	struct native_function *f;

	if (!id || !json_is_string(json_object_get(line, "name")))
		return -EINVAL;
	if (map_get(&n->functions, id))
		return 0;
	f = map_add(&n->functions, id, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->id = id;
	f->name = get_text(line, "name");
	f->object = get_text(line, "object");
	f->build_id = get_text(line, "build_id");
	if (!f->name || !f->object || !f->build_id)
		return -ENOMEM;
	f->interpreter = is_interpreter(f->name);
	return 0;
}

/* NULL: its line is in a table that is not read yet, or is missing. */
static struct native_function *function(struct natives *n, json_t *id)
{
	return map_get(&n->functions, (uint64_t)json_integer_value(id));
}

int natives_read_stack(struct natives *n, json_t *line)
{
	json_t *ids = json_object_get(line, "functions"), *id;
	size_t count = json_array_size(ids), i;
	struct native_stack *s;

	if (!get_id(line) || !count || count > MOST)
		return -EINVAL;
	if (map_get(&n->stacks, get_id(line)))
		return 0;
	s = map_add(&n->stacks, get_id(line), sizeof(*s) + count * sizeof(s->functions[0]));
	if (!s)
		return -ENOMEM;
	json_array_foreach (ids, i, id)
		if ((s->functions[s->n] = function(n, id)))
			s->n++;
	return s->n == count ? 0 : -EINVAL;
}

int natives_read_totals(struct natives *n, json_t *line)
{
	const char *error = json_string_value(json_object_get(line, "error"));

	n->asked = true;
	n->hz = (uint64_t)json_integer_value(json_object_get(line, "hz"));
	n->lost = (uint64_t)json_integer_value(json_object_get(line, "lost"));
	n->threads_without = (uint64_t)json_integer_value(json_object_get(line, "threads_without"));
	if (error && *error && !n->error)
		n->error = strdup(error);
	return 0;
}

void natives_free(struct natives *n)
{
	for (struct map_slot *s = NULL; (s = map_next(&n->functions, s));)
		free_function(s->value);
	map_free_all(&n->functions);
	map_free_all(&n->stacks);
	free(n->error);
	*n = (struct natives){ 0 };
}

const struct native_stack *natives_stack(const struct natives *n, uint32_t id)
{
	return map_get(&n->stacks, id);
}
