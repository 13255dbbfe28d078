/* SPDX-License-Identifier: MIT */
/* natives.c - see natives.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "natives.h"

/* From then on only the innermost function of a stack that is new counts. */
#define STACKS_MAX (1u << 17)

/* How often the mappings of a process are read at most, if it runs code that is in none that are known. */
#define AGAIN_NS 10000000ull

struct native_process {
	struct native_process *next;
	struct space space;
	bool stale;
	uint64_t read_ns;
};

/* What distinguishes places. */
struct place_key {
	const struct object *object;
	uint64_t start;
};

static struct native_process *process_of(struct natives *n, uint32_t pid)
{
	struct native_process *p = n->processes;

	while (p && p->space.pid != pid)
		p = p->next;
	if (p || !(p = calloc(1, sizeof(*p))))
		return p;
	p->space.pid = pid;
	p->stale = true;
	p->next = n->processes;
	return n->processes = p;
}

static void read_space(struct native_process *p)
{
	p->read_ns = clock_monotonic_ns();
	space_read(&p->space, p->space.pid); /* if it has ended, what is known has to do */
	p->stale = false;
}

/* Anything but printable ASCII, and what JSON or an output would not take as it is, becomes '?'. */
static void put_text(FILE *f, const char *text)
{
	for (; *text; text++)
		putc(*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\' ? *text : '?', f);
}

/* A function without a name is its object's name and where it is in that. */
static void put_name(FILE *f, const struct place *p)
{
	const char *path = p->object ? p->object->path : "", *last = strrchr(path, '/');

	if (p->name)
		put_text(f, p->name);
	else if (!p->object)
		put_text(f, "[unknown]");
	else {
		put_text(f, last ? last + 1 : path);
		fprintf(f, "+0x%" PRIx64, p->start);
	}
}

static void put_build_id(FILE *f, const struct elf_file *e)
{
	for (size_t i = 0; i < e->build_id_size; i++)
		fprintf(f, "%02x", e->build_id[i]);
}

static void write_line(struct natives *n, uint32_t pid, FILE *f, char **line, size_t *size)
{
	fputs("}\n", f);
	if (fclose(f) == 0)
		n->write(n->to, pid, *line, *size);
	free(*line);
}

static void write_place(struct natives *n, uint32_t pid, uint32_t number, const struct place *p)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return;
	fprintf(f, "{\"kind\":\"native_function\",\"id\":%u,\"name\":\"", number);
	put_name(f, p);
	fputs("\",\"object\":\"", f);
	put_text(f, p->object ? p->object->path : "");
	fputs("\",\"build_id\":\"", f);
	if (p->object)
		put_build_id(f, &p->object->elf);
	putc('"', f);
	write_line(n, pid, f, &line, &size);
}

static void write_stack(struct natives *n, uint32_t pid, uint32_t number, const uint32_t *places, size_t count)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return;
	fprintf(f, "{\"kind\":\"native_stack\",\"id\":%u,\"functions\":[", number);
	for (size_t i = 0; i < count; i++)
		fprintf(f, "%s%u", i ? "," : "", places[i]);
	putc(']', f);
	write_line(n, pid, f, &line, &size);
}

static uint32_t number_of(struct natives *n, uint32_t pid, const struct place *p)
{
	struct place_key key;
	uint32_t number;
	bool new;

	memset(&key, 0, sizeof(key));
	key.object = p->object;
	key.start = p->start;
	number = intern(&n->places, &key, sizeof(key), &new);
	if (new)
		write_place(n, pid, number, p);
	return number;
}

static uint32_t number_stack(struct natives *n, uint32_t pid, const struct place *places, size_t count)
{
	uint32_t numbers[UNWIND_MOST], number;
	bool new;

	if (n->stacks.n >= STACKS_MAX)
		count = 1;
	for (size_t i = 0; i < count; i++)
		numbers[i] = number_of(n, pid, &places[i]);
	number = intern(&n->stacks, numbers, count * sizeof(*numbers), &new);
	if (new)
		write_stack(n, pid, number, numbers, count);
	return number;
}

static bool may_read_again(const struct native_process *p)
{
	return clock_monotonic_ns() - p->read_ns > AGAIN_NS;
}

uint32_t natives_take(struct natives *n, uint32_t pid, const struct switches *s)
{
	struct native_process *p = process_of(n, pid);
	struct place places[UNWIND_MOST];
	bool misses = false;
	size_t count;

	if (!p || !switches_sample(s, &n->sample))
		return 0;
	if (p->stale)
		read_space(p);
	count = unwind(&n->objects, &p->space, n->sample.registers, &n->sample.stack, places, &misses);
	if (misses && may_read_again(p)) {
		read_space(p);
		count = unwind(&n->objects, &p->space, n->sample.registers, &n->sample.stack, places, &misses);
	}
	n->samples++;
	return number_stack(n, pid, places, count);
}

void natives_remapped(struct natives *n, uint32_t pid)
{
	for (struct native_process *p = n->processes; p; p = p->next)
		p->stale |= p->space.pid == pid;
}

void natives_forget(struct natives *n, uint32_t pid)
{
	struct native_process **at = &n->processes, *p;

	while ((p = *at)) {
		if (pid && p->space.pid != pid) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		space_free(&p->space);
		free(p);
	}
}

void natives_free(struct natives *n)
{
	natives_forget(n, 0);
	objects_free(&n->objects);
	intern_free(&n->places);
	intern_free(&n->stacks);
}
