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
static char *join_module(struct process *p, const char *module, const char *qualname)
{
	if (!module || !strcmp(module, "builtins"))
		return pool_print(&p->pool, "%s", qualname);
	return pool_print(&p->pool, "%s.%s", module, qualname);
}

static int read_c_function(struct codes *c, struct process *p, json_t *line)
{
	const char *qualname = json_string_value(json_object_get(line, "qualname"));
	struct code *code = qualname ? codes_add(p, get_int(line, "id", 0)) : NULL;
	const char *name;

	(void)c;
	if (!code || code->known)
		return -EINVAL;
	name = json_string_value(json_object_get(line, "name"));
	code->name = name ? pool_print(&p->pool, "%s", name) : NULL;
	code->file = pool_print(&p->pool, CODE_C_FILE);
	code->qualname = join_module(p, json_string_value(json_object_get(line, "module")), qualname);
	code->known = code->c = true;
	code->profiled = json_is_true(json_object_get(line, "profiled"));
	return code->file && code->qualname ? 0 : -ENOMEM;
}

/* The name of something that is no code. */
static int read_name(struct process *p, json_t *line, const char *file, const char *name)
{
	struct code *code = name ? codes_add(p, get_int(line, "id", 0)) : NULL;

	if (!code || code->known)
		return -EINVAL;
	code->file = pool_print(&p->pool, "%s", file);
	code->qualname = join_module(p, json_string_value(json_object_get(line, "module")), name);
	code->known = true;
	return code->file && code->qualname ? 0 : -ENOMEM;
}

/* What an import is of. */
static int read_import(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_name(p, line, CODE_IMPORT_FILE, json_string_value(json_object_get(line, "name")));
}

/* A type of exceptions. */
static int read_exception(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_name(p, line, CODE_EXCEPTION_FILE, json_string_value(json_object_get(line, "qualname")));
}

/* A name that no code has. */
static int read_own_name(struct process *p, json_t *line, const char *file)
{
	int err = read_name(p, line, file, json_string_value(json_object_get(line, "name")));

	if (!err)
		codes_add(p, get_int(line, "id", 0))->label = true;
	return err;
}

/* What a task or a request is called. */
static int read_subject(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_own_name(p, line, CODE_SUBJECT_FILE);
}

/* A name of the program's own. */
static int read_label(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_own_name(p, line, CODE_LABEL_FILE);
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
	int err = read_name(p, line, CODE_KEYS_FILE, text);

	(void)c;
	free(text);
	return err;
}

/* A text in it. */
static int read_text(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_name(p, line, CODE_TEXT_FILE, json_string_value(json_object_get(line, "name")));
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
	err = read_name(p, line, CODE_DATA_FILE, text);
	c->ndata += !err;
	free(text);
	return err;
}

const struct line_kind codes_read_names[] = {
	{ "c_function", read_c_function },
	{ "import", read_import },
	{ "exception", read_exception },
	{ "subject", read_subject },
	{ "label", read_label },
	{ "data", read_data },
	{ "keys", read_keys },
	{ "text", read_text },
	{ 0 },
};
