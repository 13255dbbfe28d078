/* SPDX-License-Identifier: MIT */
/* table.c - see table.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "shared/marker.h"
#include "shared/own_file.h"
#include "process.h"
#include "shared/ticks.h"
#include "table.h"

#define UNWRITTEN_MOST (8u << 20)

static struct {
	char *dir;
	struct text common;
	uint32_t next_id;
	uint32_t first_id;
	pid_t pid;
	pid_t parent; /* of a forked child; 0: none */
	int headless; /* a forked child that has not written yet */
	struct text unwritten;
} table = { .next_id = 1 };

/* The folder is opened each time: a descriptor that is kept could be closed, or used, by the program. */
static int open_table(int flags)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "codes-%d.jsonl", (int)table.pid), folder, fd;

	if (strlen(table.dir) + 1 + (size_t)n >= PATH_MAX)
		return -ENAMETOOLONG; /* for readers, who go by the path */
	folder = own_folder(table.dir);
	if (folder < 0)
		return folder;
	fd = own_file(folder, name, flags);
	close(folder);
	return fd;
}

static bool has_id(const char *line, uint32_t *id)
{
	return sscanf(line, "{\"kind\":\"code\",\"id\":%u", id) == 1 ||
	       sscanf(line, "{\"kind\":\"c_function\",\"id\":%u", id) == 1;
}

/* The file exists after exec, a second start, or pid reuse: ids must go on beyond those in it. */
static uint32_t first_free_id(void)
{
	int fd = open_table(O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t id, next = 1;
	char *line = NULL, *first;
	size_t room = 0;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return next;
	}
	while (getline(&line, &room, f) > 0) {
		first = strstr(line, "\"first_id\":");
		if (has_id(line, &id) && id >= next)
			next = id + 1;
		else if (!strncmp(line, "{\"kind\":\"header\"", 16) && first &&
			 sscanf(first, "\"first_id\":%u", &id) == 1 && id > next)
			next = id;
	}
	free(line);
	fclose(f);
	return next;
}

/* Writes what it can of `line`, and removes that; 0 if nothing is left. */
static int write_some(struct text *t)
{
	int fd = open_table(O_WRONLY | O_APPEND | O_CREAT), err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, t->bytes, t->length);
	if (n != (ssize_t)t->length)
		err = n < 0 ? -errno : -ENOSPC;
	close(fd);
	if (n > 0) {
		t->length -= (size_t)n;
		memmove(t->bytes, t->bytes + n, t->length);
	}
	return err;
}

/* After what could not be written before: no descriptor was left, or no room on the disk. */
static int append(struct text *line)
{
	struct text *kept = &table.unwritten;
	int err = kept->length ? write_some(kept) : 0;

	err = err ?: write_some(line);
	if (err && kept->length + line->length <= UNWRITTEN_MOST)
		text_add(kept, line->bytes, line->length);
	if (!kept->length)
		text_free(kept);
	return err;
}

static void add_clock(struct text *t)
{
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC), tsc = ticks_now();

	text_printf(t, ",\"clock\":{\"tsc\":%llu,\"monotonic_ns\":%llu", (unsigned long long)tsc,
		    (unsigned long long)monotonic);
	text_printf(t, ",\"realtime_ns\":%llu}", (unsigned long long)clock_ns(CLOCK_REALTIME));
}

static int write_header(void)
{
	struct text t = { 0 };
	int err;

	text_printf(&t, "{\"kind\":\"header\",\"ocular\":1,\"markers\":%u,\"pid\":%d", MARKER_VERSION, (int)table.pid);
	text_printf(&t, ",\"first_id\":%u", table.first_id);
	if (table.parent)
		text_printf(&t, ",\"parent\":%d", (int)table.parent);
	add_clock(&t);
	text_add(&t, ",", 1);
	text_add(&t, table.common.bytes, table.common.length);
	text_add(&t, "}\n", 2);
	err = t.failed ? -ENOMEM : append(&t);
	text_free(&t);
	table.headless = 0;
	return err;
}

int table_start(const char *dir, struct text *common)
{
	char *copy = strdup(dir);
	uint32_t first;
	int err;

	if (!copy || common->failed) {
		free(copy);
		return -ENOMEM;
	}
	process_lock();
	free(table.dir);
	table.dir = copy;
	text_free(&table.unwritten);
	text_free(&table.common);
	table.common = *common;
	*common = (struct text){ 0 };
	table.pid = getpid();
	first = first_free_id();
	if (first > table.next_id)
		table.next_id = first;
	table.first_id = table.next_id;
	table.parent = 0;
	table.headless = 0;
	err = write_header();
	process_unlock();
	return err;
}

char *table_where(void)
{
	char *copy;

	process_lock();
	copy = table.dir ? strdup(table.dir) : NULL;
	process_unlock();
	return copy;
}

uint32_t table_next_id(void)
{
	uint32_t id;

	process_lock();
	id = table.next_id <= MARKER_CODE_MAX ? table.next_id++ : 0;
	process_unlock();
	return id;
}

void table_begin(void)
{
	process_lock();
	if (table.dir && table.headless)
		write_header();
	process_unlock();
}

static void write_line(struct text *line, bool begin)
{
	text_add(line, "\n", 1);
	if (line->failed)
		return;
	process_lock();
	if (table.dir && table.headless && begin)
		write_header();
	if (table.dir && !table.headless)
		append(line);
	process_unlock();
}

void table_write(struct text *line)
{
	write_line(line, true);
}

void table_add(struct text *line)
{
	write_line(line, false);
}

void table_stop(void)
{
	process_lock();
	free(table.dir);
	table.dir = NULL;
	text_free(&table.unwritten);
	/* All ids are forgotten; the next start continues after those in its own file. */
	table.next_id = 1;
	process_unlock();
}

void table_forked(void)
{
	table.unwritten.length = 0; /* the parent's to write */
	/* If nothing was written, no id was used either: they are still its parent's. */
	if (!table.headless) {
		table.parent = table.pid;
		table.first_id = table.next_id;
	}
	table.pid = getpid();
	table.headless = 1;
}
