// SPDX-License-Identifier: MIT
/* A file is read once and cut into lines in place. */
#include "source.h"
#include "regular.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* By its name, or because its first line names a Python. */
static bool is_python(const char *file, const char *text)
{
	const char *newline = strchrnul(text, '\n'), *python = strstr(text, "python");

	return ends_with(file, ".py") || ends_with(file, ".pyw") ||
	       (!strncmp(text, "#!", 2) && python && python < newline);
}

static const char *reason(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return "the file is not here";
	case EACCES:
	case EPERM:
		return "the file may not be read";
	case EINVAL:
		return "it is not a regular file";
	default:
		return "the file cannot be read";
	}
}

/* Why a file of this name is not opened, or NULL. */
static const char *refused_name(const char *file)
{
	if (*file == '<')
		return "its code is not from a file";
	return *file == '/' ? NULL : "the file's folder is not known";
}

static const char *refused_file(const struct stat *st, int64_t recorded_ns)
{
	int64_t changed = st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec;

	if (st->st_size > SOURCE_SIZE_MOST)
		return "the file is too large to show";
	return recorded_ns && changed > recorded_ns ? "the file was changed since" : NULL;
}

/* A NUL in the file ends it, and it does not count as Python, which allows none in its source. */
static const char *read_text(struct source *s, int fd, size_t size)
{
	size_t used = 0;
	ssize_t n = 1;

	s->text = malloc(size + 1);
	if (!s->text)
		return "out of memory";
	while (used < size && (n = read(fd, s->text + used, size - used)) > 0)
		used += n;
	s->text[used] = 0;
	if (n < 0)
		return reason(errno);
	return is_python(s->file, s->text) ? NULL : "the file does not look like Python";
}

static const char *read_file(struct source *s, int64_t recorded_ns)
{
	const char *why = refused_name(s->file);
	struct stat st;
	int fd;

	if (why)
		return why;
	fd = regular_open(s->file);
	if (fd < 0)
		return reason(-fd);
	why = fstat(fd, &st) ? reason(errno) : refused_file(&st, recorded_ns);
	if (!why)
		why = read_text(s, fd, st.st_size);
	close(fd);
	return why;
}

char *source_text(const char *file, int64_t recorded_ns, const char **why)
{
	struct source s = { .file = (char *)file };

	*why = read_file(&s, recorded_ns);
	if (!*why)
		return s.text;
	free(s.text);
	return NULL;
}

static const char *cut(struct source *s)
{
	size_t lines = 1;

	for (const char *c = s->text; *c; c++)
		lines += *c == '\n';
	s->lines = calloc(lines, sizeof(*s->lines));
	if (!s->lines)
		return "out of memory";
	for (char *at = s->text; at && s->n < lines;) {
		s->lines[s->n++] = strsep(&at, "\n");
		if (ends_with(s->lines[s->n - 1], "\r"))
			s->lines[s->n - 1][strlen(s->lines[s->n - 1]) - 1] = 0;
	}
	return NULL;
}

static struct source *new_source(struct sources *sources, const char *file)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s || !(s->file = strdup(file))) {
		free(s);
		return NULL;
	}
	s->next = sources->first;
	sources->first = s;
	return s;
}

/* One line of SOURCE_FILE. What is none, or not of a Python file, is passed over: the file itself may be here. */
static int keep(struct sources *sources, const char *line, size_t n)
{
	json_t *object = json_loadb(line, n, 0, NULL);
	const char *file = json_string_value(json_object_get(object, "file"));
	const char *text = json_string_value(json_object_get(object, "text"));
	struct source *s = NULL;
	int err = 0;

	if (file && text && strlen(text) <= SOURCE_SIZE_MOST && !refused_name(file) && is_python(file, text)) {
		s = new_source(sources, file);
		err = s && (s->text = strdup(text)) && !cut(s) ? 0 : -ENOMEM;
	}
	json_decref(object);
	return err;
}

/* What came with the recording. 0 or -ENOMEM. */
static int keep_all(struct sources *sources)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	int fd = -1, err = 0;
	ssize_t n;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/" SOURCE_FILE, sources->dir) < (int)sizeof(path))
		fd = regular_open(path);
	sources->dir = NULL;
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && !err && (n = getline(&line, &room, f)) > 0)
		err = keep(sources, line, n);
	if (f)
		fclose(f);
	free(line);
	return err;
}

const struct source *sources_get(struct sources *sources, const char *file, int64_t recorded_ns)
{
	struct source *s;

	if (sources->dir && keep_all(sources))
		return NULL;
	s = sources->first;
	while (s && strcmp(s->file, file))
		s = s->next;
	if (s)
		return s;
	s = new_source(sources, file);
	if (!s)
		return NULL;
	s->why = read_file(s, recorded_ns);
	if (!s->why)
		s->why = cut(s);
	return s;
}

const char *source_line(const struct source *s, int64_t number)
{
	return s->why || number < 1 || (uint64_t)number > s->n ? NULL : s->lines[number - 1];
}

void sources_free(struct sources *sources)
{
	for (struct source *s = sources->first, *next; s; s = next) {
		next = s->next;
		free(s->lines);
		free(s->text);
		free(s->file);
		free(s);
	}
	sources->first = NULL;
}
