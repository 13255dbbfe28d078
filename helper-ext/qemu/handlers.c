/* SPDX-License-Identifier: MIT */
/* handlers.c - see handlers.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"

/* Reads numbers separated by slashes, up to '@'. Returns how many, or -1; *rest is after the '@'. */
static int read_offsets(const char *text, uint64_t *offsets, unsigned most, char **rest)
{
	unsigned n = 0;

	do {
		if (n == most || *text == '-')
			return -1;
		errno = 0;
		offsets[n++] = strtoull(text, rest, 16);
		if (errno || *rest == text)
			return -1;
		text = *rest + 1;
	} while (**rest == '/');
	return *(*rest)++ == '@' ? (int)n : -1;
}

static struct handler *at_offset(struct handlers *h, uint64_t offset)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->each[i].offset == offset)
			return &h->each[i];
	h->each[h->n].offset = offset;
	return &h->each[h->n++];
}

static int set_file(struct handlers *h, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return -ENOENT;
	if (h->nrules && strcmp(real, h->file) != 0)
		return -EINVAL;
	strcpy(h->file, real);
	return 0;
}

int handlers_add(struct handlers *h, const char *text, size_t size)
{
	uint64_t offsets[3] = { 0 };
	char *copy = strndup(text, size), *rest = NULL;
	int n = copy ? read_offsets(copy, offsets, 3, &rest) : -1;
	int err = n < 2 ? -EINVAL : h->nrules == RULES_MAX || h->n + 3 > HANDLERS_MAX ? -ENOSPC : set_file(h, rest);
	struct handler_rule *r = &h->rules[h->nrules];

	free(copy);
	if (err)
		return err;
	r->at = at_offset(h, offsets[0]);
	r->as = offsets[1] ? at_offset(h, offsets[1]) : NULL;
	r->after = n == 3 ? at_offset(h, offsets[2]) : NULL;
	h->nrules++;
	return 0;
}

void handlers_map(struct handlers *h, uint64_t start, uint64_t size, uint64_t offset, const char *file)
{
	if (strcmp(h->file, file) != 0)
		return;
	for (struct handler *e = h->each; e < h->each + h->n; e++)
		if (e->offset - offset < size)
			e->at = start + (e->offset - offset);
}

struct handler *handlers_find(struct handlers *h, uint64_t ip)
{
	for (struct handler *e = h->each; e < h->each + h->n; e++)
		if (e->at == ip)
			return e;
	return NULL;
}

/* Boyer and Moore's majority vote. */
void handler_took(struct handler *h, bool calls, uint32_t cost, bool late)
{
	struct handler_cost *c = &h->costs[calls];

	if (late && c->cost)
		return;
	if (!c->votes)
		c->cost = cost;
	c->votes += c->cost == cost ? 1 : -1u;
}

static uint32_t cost(const struct handler *h)
{
	return h ? h->costs[0].cost : 0;
}

static bool is_known(const struct handler_rule *r)
{
	return !r->as || (cost(r->as) && (!r->after || (cost(r->after) && cost(r->after) <= cost(r->as))));
}

const struct handler_rule *handlers_rule(const struct handlers *h, const struct handler *at,
					 const struct handler *previous)
{
	for (const struct handler_rule *r = h->rules; r < h->rules + h->nrules; r++)
		if (r->at == at && (!r->after || r->after == previous))
			return is_known(r) ? r : NULL;
	return NULL;
}

uint32_t handler_count(const struct handler_rule *r)
{
	return cost(r->as) - cost(r->after);
}

uint32_t handler_count_of_call(const struct handler_rule *r)
{
	uint32_t calling = r->as ? r->as->costs[1].cost : 0;

	return calling > cost(r->as) ? calling - cost(r->as) : 0;
}
