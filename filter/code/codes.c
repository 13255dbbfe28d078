// SPDX-License-Identifier: MIT
/*
 * The code tables: lookup. Reading the JSON lines is codes_read.c.
 */
#include "codes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "codes_read.h"
#include "copies.h"
#include "shared/marker.h"

int codes_init(struct codes *c, const char *dir)
{
	*c = (struct codes){ .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };
	if (dir && !(c->dir = strdup(dir)))
		return -ENOMEM;
	return 0;
}

/* What it owns: itself it is its process's pool's. */
static void code_free(struct code *code)
{
	if (!code)
		return;
	if (code->release)
		code->release(code);
	copies_clear(code);
	free(code->walk);
}

/* It shares all with another one but what was counted, and codes that were made for it. */
static void copy_free(struct process *p)
{
	for (uint32_t i = 0; i < p->ncodes; i++) {
		struct code *code = p->codes[i];

		if (!code || !code->of)
			code_free(code);
		else if (code->release)
			code->release(code);
	}
	for (int i = 0; i < CODE_GENERATIONS; i++)
		code_free(p->collections[i]);
	pool_free(&p->pool);
	free(p->codes);
	free(p);
}

static void process_free(struct process *p)
{
	if (p->before)
		process_free(p->before);
	if (p->of) {
		copy_free(p);
		return;
	}
	for (uint32_t i = 0; i < p->ncodes; i++)
		code_free(p->codes[i]);
	for (int i = 0; i < CODE_GENERATIONS; i++)
		code_free(p->collections[i]);
	pool_free(&p->pool);
	map_free_all(&p->threads);
	map_free(&p->names);
	free(p->copiers);
	for (int i = 0; i < 256; i++)
		free(p->opnames[i]);
	free(p->codes);
	free(p->python);
	free(p->mode);
	free(p->backend);
	free(p->argv);
	free(p->program.name);
	free(p->program.folder);
	free(p->program.stdlib);
	free(p->untraced);
	compiled_free(&p->compiled);
	free(p->dispatch);
	free(p);
}

static void strings_free(char **all)
{
	for (char **s = all; s && *s; s++)
		free(*s);
	free(all);
}

static void snapshots_free(struct codes *c)
{
	for (size_t i = 0; i < c->nsnapshots; i++) {
		struct snapshot *s = &c->snapshots[i];

		free(s->trigger);
		free(s->label);
		free(s->data);
		strings_free(s->stack);
	}
	free(c->snapshots);
}

static void unmatched_free(struct codes *c)
{
	for (struct unmatched *u = c->unmatched, *next; u; u = next) {
		next = u->next;
		free(u->option);
		free(u->pattern);
		strings_free(u->nearest);
		free(u);
	}
}

const struct snapshot *codes_snapshot(const struct codes *c, uint32_t number)
{
	for (size_t i = 0; i < c->nsnapshots; i++)
		if (c->snapshots[i].number == number)
			return &c->snapshots[i];
	return NULL;
}

static const struct piece *find_piece(const struct codes *c, const char *file)
{
	for (const struct piece *p = c->pieces; file && p < c->pieces + c->npieces; p++)
		if (!strcmp(p->file, file))
			return p;
	return c->npieces == 1 && !c->switched ? c->pieces : NULL;
}

uint64_t codes_words(const struct codes *c, const char *file)
{
	const struct piece *p = find_piece(c, file);
	uint64_t words = 0;

	for (size_t i = 0; !c->switched && i < c->nsnapshots; i++)
		words += c->snapshots[i].words;
	return p ? p->words : words;
}

bool codes_closed(const struct codes *c, const char *file)
{
	return find_piece(c, file);
}

static bool is_there(const struct codes *c, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", c->dir, file) < PATH_MAX && access(path, F_OK) == 0;
}

unsigned codes_missing_pieces(const struct codes *c, const char *file)
{
	unsigned n = 0;

	if (!c->switched || !file || !find_piece(c, file) || !is_there(c, file))
		return 0;
	for (const struct piece *p = c->pieces; p < c->pieces + c->npieces; p++)
		n += (!p->most || p->number + p->most > c->switched) && !is_there(c, p->file);
	return n;
}

static void pieces_free(struct codes *c)
{
	for (size_t i = 0; i < c->npieces; i++)
		free(c->pieces[i].file);
	free(c->pieces);
}

void codes_free(struct codes *c)
{
	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		process_free(s->value);
	map_free(&c->processes);
	snapshots_free(c);
	unmatched_free(c);
	pieces_free(c);
	while (c->npackages)
		free(c->packages[--c->npackages]);
	free(c->packages);
	natives_free(&c->natives);
	free(c->dir);
	*c = (struct codes){ 0 };
}

static struct process *process_of(struct codes *c, int32_t pid)
{
	struct process *p = map_get(&c->processes, (uint32_t)pid);

	if (p)
		return p->err ? NULL : p;
	p = map_add(&c->processes, (uint32_t)pid, sizeof(*p));
	if (!p) {
		snprintf(c->error, sizeof(c->error), "no memory");
		return NULL;
	}
	p->pid = pid;
	p->parent = -1;
	p->err = codes_read(c, p);
	return p->err ? NULL : p;
}

struct process *codes_process(struct codes *c, int32_t pid)
{
	struct process *p;

	pthread_mutex_lock(&c->lock);
	p = process_of(c, pid);
	pthread_mutex_unlock(&c->lock);
	return p;
}

int codes_read_all(struct codes *c)
{
	DIR *d = c->dir ? opendir(c->dir) : NULL;
	int32_t pid;
	int end, err = 0;

	for (struct dirent *e; !err && d && (e = readdir(d));) {
		end = 0;
		if (sscanf(e->d_name, "codes-%d.jsonl%n", &pid, &end) == 1 && end && !e->d_name[end] &&
		    !codes_process(c, pid))
			err = -EPROTO;
	}
	if (d)
		closedir(d);
	return err;
}

int codes_more(struct codes *c)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&c->processes, s));)
		err = codes_read_more(c, s->value);
	return err;
}

uint64_t codes_some_tsc_hz(struct codes *c)
{
	const struct process *best = NULL;

	codes_read_all(c);
	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));) {
		const struct process *p = s->value;

		if (p->tsc_hz && (!best || p->pid < best->pid))
			best = p;
	}
	return best ? best->tsc_hz : 0;
}

uint64_t codes_tsc_hz(struct codes *c, int32_t pid)
{
	const struct process *p = codes_process(c, pid);

	if (p && p->tsc_hz)
		return p->tsc_hz;
	if (!c->read_all)
		c->tsc_hz = codes_some_tsc_hz(c);
	c->read_all = true;
	return c->tsc_hz;
}

bool codes_have_dispatch(struct codes *c)
{
	codes_read_all(c);
	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		if (((struct process *)s->value)->dispatch)
			return true;
	return false;
}

bool codes_have_backend(struct codes *c, const char *backend)
{
	codes_read_all(c);
	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		for (const struct process *p = s->value; p; p = p->before)
			if (p->backend && (!backend || !strcmp(p->backend, backend)))
				return true;
	return false;
}

const struct unmatched *codes_unmatched(const struct codes *c, const struct unmatched *after)
{
	const struct unmatched *u = after ? after->next : c->unmatched;
	uint64_t tables = 0;

	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		tables += ((const struct process *)s->value)->found;
	while (u && u->processes < tables)
		u = u->next;
	return u;
}

struct wall codes_wall(struct codes *c)
{
	struct wall first = { 0 };

	codes_read_all(c);
	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));) {
		const struct wall *w = &((struct process *)s->value)->began;

		if (w->realtime_ns && (!first.realtime_ns || w->realtime_ns < first.realtime_ns))
			first = *w;
	}
	return first;
}

/* Makes room for id in p->codes, whose first element is that of the smallest id so far. */
static int make_room(struct process *p, uint32_t id)
{
	uint32_t first = p->ncodes && p->base < id ? p->base : id;
	uint32_t end = p->ncodes && p->base + p->ncodes > id + 1 ? p->base + p->ncodes : id + 1;
	struct code **codes;

	if (p->ncodes && first == p->base && end == p->base + p->ncodes)
		return 0;
	if (p->ncodes && end - p->base > p->ncodes) /* grow by half: ids are consecutive */
		end += (end - first) / 2;
	codes = calloc(end - first, sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	if (p->ncodes)
		memcpy(codes + (p->base - first), p->codes, p->ncodes * sizeof(*codes));
	free(p->codes);
	p->codes = codes;
	p->base = first;
	p->ncodes = end - first;
	return 0;
}

struct code *codes_add(struct process *p, uint32_t id)
{
	struct code **at, *code;

	if (!id || id > MARKER_CODE_MAX || make_room(p, id))
		return NULL;
	at = &p->codes[id - p->base];
	if (*at)
		return *at;
	code = pool_take(&p->pool, sizeof(*code));
	if (!code)
		return NULL;
	code->id = id;
	code->entry = -1;
	code->process = p;
	return *at = code;
}

struct code *codes_find(struct codes *c, struct process *p, uint32_t id)
{
	struct code *code = codes_own(p, id);

	for (int i = 0; !code && p->parent >= 0 && id < p->first_id && i < CODES_PARENTS_MAX; i++) {
		p = codes_process(c, p->parent);
		if (!p)
			return NULL;
		code = codes_own(p, id);
	}
	return code;
}

struct code *codes_find_or_make(struct codes *c, struct process *p, uint32_t id)
{
	struct code *code = codes_find(c, p, id);

	if (code)
		return code;
	code = codes_add(p, id);
	if (!code)
		return NULL;
	code->file = pool_print(&p->pool, "?");
	code->qualname = pool_print(&p->pool, "code %u", id);
	c->unknown++;
	return code->file && code->qualname ? code : NULL;
}

static bool is_named(const struct code *code, const char *file, const char *qualname, int64_t line)
{
	return code && code->firstlineno == line && !strcmp(code->qualname, qualname) && !strcmp(code->file, file);
}

static uint64_t hash_of(const char *file, const char *qualname, int64_t line)
{
	return hash_text(hash_text(HASH_START ^ line, file), qualname);
}

/* The code object of those names; if there is none, NULL, and *key is where it belongs. */
static struct code *find_named(const struct process *p, const char *file, const char *qualname, int64_t line,
			       uint64_t *key)
{
	struct code *code;

	*key = hash_of(file, qualname, line);
	while ((code = map_get(&p->names, *key)) && !is_named(code, file, qualname, line))
		++*key;
	return code;
}

/* The ones from the table. */
static int index_names(struct process *p)
{
	int err = 0;

	for (; p->named < p->ncodes && !err; p->named++) {
		struct code *code = p->codes[p->named];
		uint64_t key;

		if (code && !find_named(p, code->file, code->qualname, code->firstlineno, &key))
			err = map_put(&p->names, key, code);
	}
	return err;
}

/* An id without a code object. The array is longer than the ids in use, because make_room grows it in advance. */
static uint32_t free_id(struct process *p)
{
	while (p->taken < p->ncodes && p->codes[p->taken])
		p->taken++;
	return p->ncodes ? p->base + p->taken : 1;
}

struct code *codes_intern(struct process *p, const char *file, const char *qualname, int64_t firstlineno)
{
	struct code *code;
	uint64_t key;

	if (index_names(p))
		return NULL;
	code = find_named(p, file, qualname, firstlineno, &key);
	if (code)
		return code;
	code = codes_add(p, free_id(p));
	if (!code || map_put(&p->names, key, code))
		return NULL;
	code->file = pool_print(&p->pool, "%s", file);
	code->qualname = pool_print(&p->pool, "%s", qualname);
	code->firstlineno = firstlineno;
	code->known = true;
	return code->file && code->qualname ? code : NULL;
}

/* Of a table that may come later, no id is known to be free. */
struct code *codes_collection(struct process *p, unsigned generation)
{
	struct code **at = &p->collections[generation];

	if (*at || !(*at = pool_take(&p->pool, sizeof(**at))))
		return *at;
	(*at)->process = p;
	(*at)->entry = -1;
	(*at)->known = (*at)->c = (*at)->collects = true;
	(*at)->generation = (uint8_t)generation;
	(*at)->file = pool_print(&p->pool, CODE_GC_FILE);
	(*at)->qualname = pool_print(&p->pool, "garbage collection, generation %u", generation);
	return (*at)->file && (*at)->qualname ? *at : NULL;
}
