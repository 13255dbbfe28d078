// SPDX-License-Identifier: MIT
#include "named.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "code/origin.h"

struct naming {
	FILE *to;
	json_t *seen;	/* names of files */
	json_t *header; /* of the table; NULL: none */
	int n;
};

/* Text that is not UTF-8 has no JSON, and is left out. */
static int take_file(struct naming *m, const char *file)
{
	const char *stdlib = json_string_value(json_object_get(m->header, "stdlib")), *why;
	int64_t recorded = json_integer_value(json_object_get(json_object_get(m->header, "clock"), "realtime_ns"));
	json_t *line;
	char *text;

	if (json_object_get(m->seen, file) || origin_is_library_path(file, stdlib))
		return 0;
	if (json_object_set_new(m->seen, file, json_true()))
		return -ENOMEM;
	text = source_text(file, recorded, &why);
	line = text ? json_pack("{s:s, s:s}", "file", file, "text", text) : NULL;
	if (line && !json_dumpf(line, m->to, 0)) {
		fputc('\n', m->to);
		m->n++;
	}
	json_decref(line);
	free(text);
	return 0;
}

/* Only lines of these two kinds are parsed. */
static int take_line(struct naming *m, const char *line, size_t n)
{
	static const char header[] = "{\"kind\":\"header\"", code[] = "{\"kind\":\"code\"";
	bool is_header = !strncmp(line, header, strlen(header)), is_code = !strncmp(line, code, strlen(code));
	json_t *object = is_header || is_code ? json_loadb(line, n, 0, NULL) : NULL;
	const char *file = is_code ? json_string_value(json_object_get(object, "file")) : NULL;
	int err = file ? take_file(m, file) : 0;

	if (is_header) {
		json_decref(m->header);
		m->header = json_incref(object);
	}
	json_decref(object);
	return err;
}

static int take_table(struct naming *m, int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (f && !err && (n = getline(&line, &room, f)) > 0)
		err = take_line(m, line, n);
	if (f)
		fclose(f);
	free(line);
	json_decref(m->header);
	m->header = NULL;
	return err;
}

int named_sources(FILE *to, int folder, const struct about *a)
{
	struct naming m = { .to = to, .seen = json_object() };
	int err = m.seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < a->n && !err; i++)
		if (about_is_table(a->files[i].name))
			err = take_table(&m, folder, a->files[i].name);
	json_decref(m.seen);
	return err ? err : m.n;
}
