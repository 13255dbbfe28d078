// SPDX-License-Identifier: MIT
#include "codes_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct process *find(const struct codes *c, int32_t pid)
{
	return pid < 0 ? NULL : map_get(&c->processes, (uint32_t)pid);
}

/* --- copies ------------------------------------------------------------------------------------------------ */

/* Of code objects before an exec the process is one of p->before. */
static struct process *copy_of(struct process *p, const struct process *of)
{
	while (p && p->of != of)
		p = p->before;
	return p;
}

static struct code *copy_code(struct process *p, struct code *of)
{
	struct code *code = pool_take(&p->pool, sizeof(*code));

	if (!code)
		return NULL;
	*code = *of;
	code->of = of;
	code->process = copy_of(p, of->process);
	code->function = NULL;
	code->release = NULL;
	code->ran_before = NULL;
	return code;
}

static int copy_codes(struct process *p)
{
	p->codes = calloc(p->of->ncodes + 1, sizeof(*p->codes));
	p->ncodes = p->codes ? p->of->ncodes : 0;
	for (uint32_t i = 0; i < p->ncodes; i++)
		if (p->of->codes[i] && !(p->codes[i] = copy_code(p, p->of->codes[i])))
			return -ENOMEM;
	return p->codes ? 0 : -ENOMEM;
}

/* To *to. 0 or -ENOMEM; it may be freed after either. */
static int copy_process(struct process **to, struct process *of)
{
	struct process *p = *to = malloc(sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	*p = *of;
	p->of = of;
	p->before = NULL;
	p->codes = NULL;
	p->ncodes = 0;
	p->ran = NULL;
	p->names = (struct map){ 0 };
	p->pool = (struct pool){ 0 };
	p->file = NULL;
	p->received = p->added = p->missing = 0;
	memset(p->collections, 0, sizeof(p->collections));
	err = of->before ? copy_process(&p->before, of->before) : 0;
	return err ?: copy_codes(p);
}

/* --- what a part needs ------------------------------------------------------------------------------------- */

/* For each process that this one may have code of: its parent, that one's ... 0, or what visit() returned. */
static int each_parent(const struct codes *c, const struct process *p, int (*visit)(void *to, struct process *parent),
		       void *to)
{
	struct process *a = find(c, p->parent);
	int err = 0;

	for (int i = 0; a && i < CODES_PARENTS_MAX && !err; i++, a = find(c, a->parent))
		err = visit(to, a);
	return err;
}

struct lending {
	const struct codes_parts *parts;
	struct codes *part;
	unsigned number;
	struct map shared; /* processes whose code another part's run, too */
	bool several;	   /* is the process that is looked at in several parts? */
};

static unsigned part_of(const struct lending *l, const struct process *p)
{
	return l->parts->of(l->parts->to, p->pid);
}

static bool is_several(const struct lending *l, const struct process *p)
{
	return l->parts->several(l->parts->to, p->pid);
}

/* `number` is the part of its child. */
static int add_shared(void *lending, struct process *p)
{
	struct lending *l = lending;
	bool alone = !l->several && part_of(l, p) == l->number;

	return alone ? 0 : map_put(&l->shared, (uint32_t)p->pid, p);
}

static int add_shared_by(struct lending *l, const struct codes *all, struct process *p)
{
	l->number = part_of(l, p);
	l->several = is_several(l, p);
	if (l->several && map_put(&l->shared, (uint32_t)p->pid, p))
		return -ENOMEM;
	return each_parent(all, p, add_shared, l);
}

static int find_shared(struct lending l, const struct codes *all, struct map *shared)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&all->processes, s));)
		err = add_shared_by(&l, all, s->value);
	*shared = l.shared;
	return err;
}

static int add_copy(struct codes *part, struct process *p)
{
	struct process *copy;
	int err;

	if (find(part, p->pid))
		return 0;
	err = copy_process(&copy, p);
	return copy ? map_put(&part->processes, (uint32_t)p->pid, copy) ?: err : err;
}

static bool has(const struct lending *l, const struct process *p)
{
	return l->parts->has(l->parts->to, p->pid, l->number);
}

static int lend_parent(void *lending, struct process *p)
{
	struct lending *l = lending;

	return has(l, p) ? 0 : add_copy(l->part, p);
}

static int lend(struct lending *l, struct process *p)
{
	if (map_get(&l->shared, (uint32_t)p->pid))
		return add_copy(l->part, p);
	return map_put(&l->part->processes, (uint32_t)p->pid, p);
}

int codes_lend(struct codes *all, struct codes *part, const struct codes_parts *parts, unsigned number)
{
	struct lending l = { .parts = parts, .part = part, .number = number };
	int err = codes_init(part, NULL);

	err = err ?: find_shared(l, all, &l.shared);
	part->packages = all->packages;
	part->npackages = all->npackages;
	part->tsc_hz = codes_some_tsc_hz(all);
	part->read_all = true;
	for (struct map_slot *s = NULL; !err && (s = map_next(&all->processes, s));) {
		if (!has(&l, s->value))
			continue;
		err = lend(&l, s->value) ?: each_parent(all, s->value, lend_parent, &l);
	}
	map_free(&l.shared);
	return err;
}

/* --- and gives back ---------------------------------------------------------------------------------------- */

/* One that the part made itself, as no table has it. */
static int take_over(struct codes *all, struct process *p)
{
	if (p->pid < 0 || (find(all, p->pid) && (p->ncodes || p->received || p->missing)))
		return -EAGAIN;
	if (find(all, p->pid))
		return 0;
	all->missing += all->dir != NULL;
	return map_put(&all->processes, (uint32_t)p->pid, p);
}

static void add_counts(struct process *to, const struct process *more)
{
	to->received += more->received;
	to->added += more->added;
	to->missing += more->missing;
}

static bool has_copies(const struct codes *part)
{
	for (struct map_slot *s = NULL; (s = map_next(&part->processes, s));)
		if (((const struct process *)s->value)->of)
			return true;
	return false;
}

/* Of a code object that no table has, who runs it first makes it: a forked process, or its parent, for both. */
int codes_give_back(struct codes *all, struct codes *part)
{
	int err = 0;

	all->unknown += part->unknown;
	if (all->unknown && has_copies(part))
		return -EAGAIN;
	for (struct map_slot *s = NULL; !err && (s = map_next(&part->processes, s));) {
		struct process *p = s->value;

		if (p->of)
			add_counts(p->of, p);
		else if (p != find(all, p->pid))
			err = take_over(all, p);
	}
	return err;
}

struct code *codes_same(const struct code *code)
{
	if (code->of)
		return code->of;
	return code->process->of ? codes_collection(code->process->of, code->generation) : (struct code *)code;
}

void codes_part_free(struct codes *all, struct codes *part)
{
	for (struct map_slot *s = NULL; (s = map_next(&part->processes, s));)
		if (s->value == find(all, ((struct process *)s->value)->pid))
			s->value = NULL;
	part->packages = NULL;
	part->npackages = 0;
	codes_free(part);
}
