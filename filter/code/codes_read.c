// SPDX-License-Identifier: MIT
/*
 * One line of a code table is one JSON object; `kind` chooses the reader from the tables of codes_read_*.c. A line that
 * cannot be used is counted as damaged and skipped: the ids in it become "code ID".
 */
#include "codes_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "codes_read_parts.h"

static const struct line_kind *const kinds[] = {
	codes_read_header, codes_read_code, codes_read_names, codes_read_process, codes_read_recording,
};

/* NULL: of a kind that this Ocular does not know. */
static line_reader find_reader(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (const struct line_kind *k = kinds[i]; k->kind; k++)
			if (!strcmp(k->kind, kind))
				return k->read;
	return NULL;
}

static int read_line(struct codes *c, struct process *p, const char *text, size_t length)
{
	json_t *line = json_loadb(text, length, 0, NULL);
	const char *kind = json_string_value(json_object_get(line, "kind"));
	line_reader reader = kind ? find_reader(kind) : NULL;
	int err = !kind ? -EINVAL : reader ? reader(c, p, line) : 0;

	json_decref(line);
	return err;
}

static int read_lines(struct codes *c, struct process *p, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	int err = 0;

	while ((err == 0 || err == -EINVAL) && (length = getline(&text, &size, f)) > 0) {
		if (c->grows && text[length - 1] != '\n')
			break;
		p->read += length;
		err = read_line(c, p, text, length);
		c->damaged += err == -EINVAL;
	}
	free(text);
	return err == -EINVAL ? 0 : err;
}

/* NULL: there is none, or no memory (*err). */
static FILE *open_table(const struct codes *c, const struct process *p, int *err)
{
	char *path;
	FILE *f;
	int fd;

	if (asprintf(&path, "%s/codes-%d.jsonl", c->dir, p->pid) < 0) {
		*err = -ENOMEM;
		return NULL;
	}
	fd = regular_open(path);
	free(path);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int read_table(struct codes *c, struct process *p, FILE *f)
{
	int err = read_lines(c, p, f);

	fclose(f);
	if (err == -ENOMEM)
		snprintf(c->error, sizeof(c->error), "no memory for codes-%d.jsonl", p->pid);
	return err;
}

int codes_read(struct codes *c, struct process *p)
{
	int err = 0;
	FILE *f = c->dir ? open_table(c, p, &err) : NULL;

	if (!c->dir || err)
		return err;
	if (!f) {
		c->missing++;
		return 0;
	}
	err = read_table(c, p, f);
	c->missing += !p->found && !p->untraced;
	return err;
}

int codes_read_more(struct codes *c, struct process *p)
{
	bool missing = !p->found && !p->untraced;
	int err = 0;
	FILE *f = c->dir ? open_table(c, p, &err) : NULL;

	if (!f)
		return err;
	if (fseek(f, p->read, SEEK_SET)) {
		fclose(f);
		return 0;
	}
	err = read_table(c, p, f);
	c->missing -= missing && (p->found || p->untraced);
	return err;
}
