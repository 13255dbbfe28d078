// SPDX-License-Identifier: MIT
#include "chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(const struct chains *c)
{
	return c->length * sizeof(c->all->forms[0]);
}

/* FNV-1a's constants, a whole index at a time. */
static uint64_t hash(const struct chains *c, const uint32_t *forms)
{
	uint64_t h = 0xcbf29ce484222325;

	for (unsigned i = 0; i < c->length; i++)
		h = (h ^ forms[i]) * 0x100000001b3;
	return h;
}

static int add(struct chains *c, uint64_t key, uint32_t first, const uint32_t *forms)
{
	if (!c->all)
		c->all = malloc(CHAINS_MOST * sizeof(*c->all));
	if (!c->all || map_put(&c->by_hash, key, (void *)(uintptr_t)(c->n + 1)))
		return -ENOMEM;
	c->all[c->n] = (struct chain){ .same_hash = first, .n = 1 };
	memcpy(c->all[c->n].forms, forms, size_of(c));
	c->n++;
	c->counted++;
	return 0;
}

static int count(struct chains *c, const uint32_t *forms)
{
	uint64_t key = hash(c, forms);
	uint32_t first = (uintptr_t)map_get(&c->by_hash, key);

	for (uint32_t i = first; i; i = c->all[i - 1].same_hash)
		if (!memcmp(c->all[i - 1].forms, forms, size_of(c))) {
			c->all[i - 1].n++;
			c->counted++;
			return 0;
		}
	if (c->n < CHAINS_MOST)
		return add(c, key, first, forms);
	c->left_out++;
	return 0;
}

int chains_next(struct chains *c, struct chain_end *end, const struct process *p, uint8_t base, uint8_t ran)
{
	uint32_t row = opcodes_row(&c->forms, p, base, ran);

	if (row == OPCODES_NONE)
		return -ENOMEM;
	if (end->n == c->length)
		memmove(end->forms, end->forms + 1, --end->n * sizeof(end->forms[0]));
	end->forms[end->n++] = row;
	return end->n == c->length ? count(c, end->forms) : 0;
}

static int compare(const void *left, const void *right, void *chains)
{
	const struct chain *a = *(const struct chain *const *)left, *b = *(const struct chain *const *)right;
	const struct chains *c = chains;
	int order = (a->n < b->n) - (a->n > b->n);

	for (unsigned i = 0; i < c->length && !order; i++)
		order = opcode_compare(&c->forms.rows[a->forms[i]], &c->forms.rows[b->forms[i]]);
	return order;
}

const struct chain **chains_sorted(const struct chains *c)
{
	const struct chain **sorted = malloc((c->n + 1) * sizeof(*sorted));

	for (uint32_t i = 0; sorted && i < c->n; i++)
		sorted[i] = &c->all[i];
	if (sorted)
		qsort_r(sorted, c->n, sizeof(*sorted), compare, (void *)c);
	return sorted;
}

uint32_t *chains_rows(const struct chains *c, const struct opcodes *o)
{
	uint32_t *rows = malloc((c->forms.nrows + 1) * sizeof(*rows));

	for (uint32_t i = 0; rows && i < c->forms.nrows; i++)
		rows[i] = opcodes_find(o, c->forms.rows[i].base, c->forms.rows[i].specialized);
	return rows;
}

void chains_free(struct chains *c)
{
	opcodes_free(&c->forms);
	map_free(&c->by_hash);
	free(c->all);
	*c = (struct chains){ 0 };
}
