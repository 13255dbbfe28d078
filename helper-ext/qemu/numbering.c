/* SPDX-License-Identifier: MIT */
/* numbering.c - see numbering.h. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numbering.h"
#include "shared/own_file.h"
#include "shared/perf_format.h"

#define TABLE "codes-%u.jsonl"

int numbering_add(struct numbering *g, const struct spool_head *head)
{
	struct thread_name *threads = realloc(g->threads, (g->n + 1) * sizeof(*threads));

	if (!threads)
		return -ENOMEM;
	g->threads = threads;
	threads[g->n++] = (struct thread_name){ head->tid, head->tsc };
	return 0;
}

/* For two that began at the same time, the kernel's order. */
static int by_time(const void *a, const void *b)
{
	const struct thread_name *x = a, *y = b;

	return x->tsc != y->tsc ? (x->tsc > y->tsc) - (x->tsc < y->tsc) : (x->tid > y->tid) - (x->tid < y->tid);
}

void numbering_sort(struct numbering *g)
{
	if (g->n)
		qsort(g->threads, g->n, sizeof(*g->threads), by_time);
}

uint32_t numbering_of(const struct numbering *g, uint32_t id)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->threads[i].tid == id)
			return i + 1;
	return id;
}

/* --- records ----------------------------------------------------------------------------------------- */

static void rename_ids(const struct numbering *g, uint8_t *at, unsigned count)
{
	uint32_t ids[4];

	memcpy(ids, at, count * sizeof(*ids));
	for (unsigned i = 0; i < count; i++)
		ids[i] = numbering_of(g, ids[i]);
	memcpy(at, ids, count * sizeof(*ids));
}

/* How many ids such a record begins with, after its header. */
static unsigned ids_of(uint32_t type)
{
	switch (type) {
	case PERF_COMM:
	case PERF_MMAP2:
	case PERF_ITRACE_START:
		return 2;
	case PERF_FORK:
		return 4;
	}
	return 0;
}

void numbering_side(const struct numbering *g, uint8_t *records, size_t size)
{
	struct perf_record header;

	for (uint8_t *p = records; p < records + size; p += header.size) {
		memcpy(&header, p, sizeof(header));
		rename_ids(g, p + sizeof(header), ids_of(header.type));
		rename_ids(g, p + header.size - sizeof(struct perf_sample_id), 2);
	}
}

/* --- code tables ------------------------------------------------------------------------------------- */

static void rename_member(const struct numbering *g, json_t *id)
{
	if (json_is_integer(id))
		json_integer_set(id, numbering_of(g, (uint32_t)json_integer_value(id)));
}

/* docs/marker.md: the keys that name processes and threads. */
static void rename_line(const struct numbering *g, json_t *line)
{
	size_t i;
	json_t *row;

	rename_member(g, json_object_get(line, "pid"));
	rename_member(g, json_object_get(line, "tid"));
	rename_member(g, json_object_get(line, "parent"));
	json_array_foreach (json_object_get(line, "markers"), i, row)
		rename_member(g, json_array_get(row, 0));
}

static int copy_lines(const struct numbering *g, FILE *from, FILE *to)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&text, &size, from)) > 0) {
		json_t *line = json_loadb(text, (size_t)length, 0, NULL);

		rename_line(g, line);
		if (!line || json_dumpf(line, to, JSON_COMPACT) || fputc('\n', to) < 0)
			fwrite(text, 1, (size_t)length, to);
		json_decref(line);
	}
	free(text);
	return fflush(to) || ferror(to) || ferror(from) ? -EIO : 0;
}

static FILE *open_table(int folder, uint32_t pid, const char *suffix, int flags, const char *mode)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), TABLE "%s", pid, suffix);
	fd = own_file(folder, name, flags);
	errno = fd < 0 ? -fd : 0;
	return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Into codes-NUMBER.jsonl.new: a name of the kernel's may be a number, too. */
static int copy_table(const struct numbering *g, int folder, uint32_t pid)
{
	FILE *from = open_table(folder, pid, "", O_RDONLY, "r"), *to;
	char name[64];
	int err;

	if (!from)
		return errno == ENOENT ? 0 : -errno; /* not a Python, or one that wrote nothing */
	to = open_table(folder, numbering_of(g, pid), ".new", O_WRONLY | O_CREAT | O_TRUNC, "w");
	err = to ? copy_lines(g, from, to) : -errno;
	if (to && fclose(to) && !err)
		err = -errno;
	fclose(from);
	snprintf(name, sizeof(name), TABLE, pid);
	if (!err && unlinkat(folder, name, 0) < 0)
		err = -errno;
	return err;
}

int numbering_tables(const struct numbering *g, int folder)
{
	char new[64], name[64];
	int err = 0;

	for (uint32_t i = 0; i < g->n && !err; i++)
		err = copy_table(g, folder, g->threads[i].tid);
	for (uint32_t i = 1; i <= g->n && !err; i++) {
		snprintf(new, sizeof(new), TABLE ".new", i);
		snprintf(name, sizeof(name), TABLE, i);
		if (renameat(folder, new, folder, name) < 0 && errno != ENOENT)
			err = -errno;
	}
	return err;
}

void numbering_free(struct numbering *g)
{
	free(g->threads);
	*g = (struct numbering){ 0 };
}
