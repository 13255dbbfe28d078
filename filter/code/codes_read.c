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
#include <sys/stat.h>
#include <unistd.h>

#include "base/lines.h"
#include "base/regular.h"
#include "codes_read_parts.h"

static const struct line_kind *const kinds[] = {
	codes_read_header, codes_read_code, codes_read_names, codes_read_process, codes_read_recording,
};

/* NULL: of a kind that this Ocular does not know, has rows, or is flat. */
static line_reader find_reader(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (const struct line_kind *k = kinds[i]; k->kind; k++)
			if (!strcmp(k->kind, kind))
				return k->read;
	return NULL;
}

/* NULL: of a kind without rows. */
static const struct rows_kind *find_rows(const char *kind)
{
	const struct rows_kind *k = codes_read_rows;

	while (k->kind && strcmp(k->kind, kind) != 0)
		k++;
	return k->kind ? k : NULL;
}

/*
 * A line with rows, as the extension writes it: {, members, the rows, maybe other members, }. It is damaged where it is
 * damaged as a whole: what is before and behind the rows is members of one object, or this fails.
 */
static bool read_quickly(struct number_rows *rows, struct flat_line *line, const char *text, size_t length)
{
	struct cut_line rest;

	flat_line_begin(line);
	if (!number_rows_cut(rows, text, length, &rest) || *rest.head != '{' ||
	    !flat_line_add(line, rest.head + 1, rest.head_length - 1) || rest.tail[rest.tail_length - 2] != '}')
		return false;
	if (rest.tail_length == strlen("}\n"))
		return true;
	return *rest.tail == ',' && flat_line_add(line, rest.tail + 1, rest.tail_length - strlen(",}\n")) &&
	       !flat_line_has(line, rows->member);
}

static const struct rows_kind *find_flat(const struct flat_line *line, const char *member)
{
	const struct rows_kind *k = codes_read_rows;

	while (k->kind && (strcmp(k->member, member) != 0 || !flat_line_is(line, "kind", k->kind)))
		k++;
	return k->kind ? k : NULL;
}

/* The same of a line without rows. */
static bool read_flat(struct flat_line *line, const char *text, size_t length)
{
	flat_line_begin(line);
	return length > strlen("{}\n") && *text == '{' && !memcmp(text + length - 2, "}\n", 2) &&
	       flat_line_add(line, text + 1, length - strlen("{}\n"));
}

static flat_reader find_flat_reader(const struct flat_line *line)
{
	const struct flat_kind *k = codes_read_flat;

	while (k->kind && !flat_line_is(line, "kind", k->kind))
		k++;
	return k->read;
}

static int read_rows_line(struct codes *c, struct process *p, json_t *object, const struct rows_kind *kind,
			  struct number_rows *rows)
{
	const struct flat_line line = { .object = object };
	const json_t *array = json_object_get(object, kind->member);

	return number_rows_read(rows, array, number_rows_width(kind->member)) ?: kind->read(c, p, &line, rows);
}

static int read_object(struct codes *c, struct process *p, struct number_rows *rows, json_t *line)
{
	const char *kind = json_string_value(json_object_get(line, "kind"));
	const struct flat_line as_flat = { .object = line };
	const struct rows_kind *with_rows = kind ? find_rows(kind) : NULL;
	flat_reader flat = kind ? find_flat_reader(&as_flat) : NULL;
	line_reader reader = kind && !with_rows ? find_reader(kind) : NULL;

	if (with_rows)
		return read_rows_line(c, p, line, with_rows, rows);
	if (flat)
		return flat(p, &as_flat);
	return !kind ? -EINVAL : reader ? reader(c, p, line) : 0;
}

static int read_line(struct codes *c, struct process *p, struct number_rows *rows, const char *text, size_t length)
{
	struct flat_line line;
	const struct rows_kind *kind = read_quickly(rows, &line, text, length) ? find_flat(&line, rows->member) : NULL;
	flat_reader flat;
	json_t *object;
	int err;

	if (kind)
		return kind->read(c, p, &line, rows);
	flat = !rows->member && read_flat(&line, text, length) ? find_flat_reader(&line) : NULL;
	if (flat)
		return flat(p, &line);
	object = json_loadb(text, length, 0, NULL);
	err = read_object(c, p, rows, object);
	json_decref(object);
	return err;
}

static int read_lines(struct codes *c, struct process *p, struct lines *from)
{
	struct number_rows rows = { 0 };
	const char *text;
	size_t length;
	int err = 0;

	while ((err == 0 || err == -EINVAL) && (text = lines_next(from, &length))) {
		if (c->grows && text[length - 1] != '\n')
			break;
		p->read += length;
		err = read_line(c, p, &rows, text, length);
		c->damaged += err == -EINVAL;
	}
	number_rows_free(&rows);
	return from->failed ? -ENOMEM : err == -EINVAL ? 0 : err;
}

/* A descriptor, or negative: there is none, or no memory (*err). */
static int open_table(const struct codes *c, const struct process *p, int *err)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/codes-%d.jsonl", c->dir, p->pid) < 0)
		return *err = -ENOMEM;
	fd = regular_open(path);
	free(path);
	return fd;
}

/* A row of a table takes about as many bytes as its text has. */
static void expect_rows(struct process *p, int fd)
{
	struct stat st;

	p->pool.expected = fstat(fd, &st) == 0 && st.st_size > p->read ? st.st_size - p->read : 0;
}

static int read_table(struct codes *c, struct process *p, int fd)
{
	struct lines from = { .fd = fd };
	int err;

	expect_rows(p, fd);
	err = read_lines(c, p, &from);
	p->pool.expected = 0;
	lines_free(&from);
	close(fd);
	if (err == -ENOMEM)
		snprintf(c->error, sizeof(c->error), "no memory for codes-%d.jsonl", p->pid);
	return err;
}

int codes_read(struct codes *c, struct process *p)
{
	int err = 0;
	int fd = c->dir ? open_table(c, p, &err) : -1;

	if (!c->dir || err)
		return err;
	if (fd < 0) {
		c->missing++;
		return 0;
	}
	err = read_table(c, p, fd);
	c->missing += !p->found && !p->untraced;
	return err;
}

int codes_read_more(struct codes *c, struct process *p)
{
	bool missing = !p->found && !p->untraced;
	int err = 0;
	int fd = c->dir ? open_table(c, p, &err) : -1;

	if (fd < 0)
		return err;
	if (lseek(fd, p->read, SEEK_SET) < 0) {
		close(fd);
		return 0;
	}
	err = read_table(c, p, fd);
	c->missing -= missing && (p->found || p->untraced);
	return err;
}
