// SPDX-License-Identifier: MIT
/*
 * Lines that give an id to what is no Python code, but has a name as code has: C functions, imports, types of
 * exceptions, what the program calls its spans and tasks, and the data that goes with those.
 */
#include "codes_read_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "zlib.compress", but "len". NULL: no memory. */
static char *join_module(struct process *p, const struct flat_line *line, const char *name, size_t length)
{
	size_t module_length;
	const char *module = flat_line_text(line, "module", &module_length);

	if (!module || flat_line_is(line, "module", "builtins"))
		return pool_text(&p->pool, name, length);
	return pool_print(&p->pool, "%.*s.%.*s", (int)module_length, module, (int)length, name);
}

/* 0, -EINVAL: it has no name, or an id that is taken; -ENOMEM. */
static int add_name(struct process *p, const struct flat_line *line, const char *file, const char *name, size_t length)
{
	struct code *code = name ? codes_add(p, flat_line_number(line, "id", 0)) : NULL;

	if (!code || code->known)
		return -EINVAL;
	code->file = pool_text(&p->pool, file, strlen(file));
	code->qualname = join_module(p, line, name, length);
	code->known = true;
	return code->file && code->qualname ? 0 : -ENOMEM;
}

/* The name of something that is no code is under that key. */
static int read_name(struct process *p, const struct flat_line *line, const char *file, const char *key)
{
	size_t length = 0;
	const char *name = flat_line_text(line, key, &length);

	return add_name(p, line, file, name, length);
}

static int read_c_function(struct process *p, const struct flat_line *line)
{
	int err = read_name(p, line, CODE_C_FILE, "qualname");
	struct code *code = err ? NULL : codes_add(p, flat_line_number(line, "id", 0));
	size_t length;
	const char *name = flat_line_text(line, "name", &length);

	if (err)
		return err;
	code->name = name ? pool_text(&p->pool, name, length) : NULL;
	code->c = true;
	code->profiled = flat_line_is_true(line, "profiled");
	return 0;
}

/* What an import is of. */
static int read_import(struct process *p, const struct flat_line *line)
{
	return read_name(p, line, CODE_IMPORT_FILE, "name");
}

/* A type of exceptions. */
static int read_exception(struct process *p, const struct flat_line *line)
{
	return read_name(p, line, CODE_EXCEPTION_FILE, "qualname");
}

/* A name that no code has. */
static int read_own_name(struct process *p, const struct flat_line *line, const char *file)
{
	int err = read_name(p, line, file, "name");

	if (!err)
		codes_add(p, flat_line_number(line, "id", 0))->label = true;
	return err;
}

/* What a task or a request is called. */
static int read_subject(struct process *p, const struct flat_line *line)
{
	return read_own_name(p, line, CODE_SUBJECT_FILE);
}

/* A name of the program's own. */
static int read_label(struct process *p, const struct flat_line *line)
{
	return read_own_name(p, line, CODE_LABEL_FILE);
}

/* What is kept as text of JSON; NULL: there is none. */
static int add_json(struct process *p, json_t *line, const char *file, const char *text)
{
	return add_name(p, &(struct flat_line){ .object = line }, file, text, text ? strlen(text) : 0);
}

/* The keys of such data. */
static bool are_keys(const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		if (!json_is_string(name))
			return false;
	return json_is_array(names);
}

static int read_keys(struct codes *c, struct process *p, json_t *line)
{
	json_t *names = json_object_get(line, "name");
	char *text = are_keys(names) ? json_dumps(names, JSON_COMPACT) : NULL;
	int err = add_json(p, line, CODE_KEYS_FILE, text);

	(void)c;
	free(text);
	return err;
}

/* A text in it. */
static int read_text(struct process *p, const struct flat_line *line)
{
	return read_name(p, line, CODE_TEXT_FILE, "name");
}

#define DATA_MOST 10000 /* `data` lines are kept: memory does not grow with the recording */

/* What goes with one span or instant, as text of JSON. */
static int read_data(struct codes *c, struct process *p, json_t *line)
{
	json_t *data = json_object_get(line, "data");
	char *text;
	int err;

	if (c->ndata >= DATA_MOST)
		return 0;
	text = json_is_object(data) ? json_dumps(data, JSON_COMPACT) : NULL;
	err = add_json(p, line, CODE_DATA_FILE, text);
	c->ndata += !err;
	free(text);
	return err;
}

const struct line_kind codes_read_names[] = {
	{ "data", read_data },
	{ "keys", read_keys },
	{ 0 },
};

const struct flat_kind codes_read_flat[] = {
	{ "import", read_import },
	{ "c_function", read_c_function },
	{ "exception", read_exception },
	{ "subject", read_subject },
	{ "label", read_label },
	{ "text", read_text },
	{ 0 },
};
