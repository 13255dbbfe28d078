// SPDX-License-Identifier: MIT
/* Each level is made of the cells, merged two columns at a time: what a block leaves out is not lost above it. */
#include "pyramid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pyramid_cells.h"
#include "shared/array.h"

struct making {
	struct pyramid *p;
	const struct flame *f;
	struct cell *cells, *merged; /* by row, column, path */
	size_t ncells;
	uint64_t *total;  /* [shown paths]: of the block at hand */
	struct cell *cut; /* [shown paths], of that, too */
	bool *seen;	  /* [shown paths]: it is in touched */
	uint32_t *touched;
	uint32_t ntouched;
	size_t entries;
	uint32_t last;	  /* column */
	uint32_t columns; /* a power of two of them, so that the widest block is all of the time */
};

/* The caller's number on the page. */
static uint32_t caller(const struct flame *f, uint32_t path)
{
	return f->nodes[f->nodes[f->shown[path]].parent].shown - 1;
}

static int by_time(const void *left, const void *right)
{
	const struct columns_row *a = *(struct columns_row *const *)left, *b = *(struct columns_row *const *)right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static uint32_t threads(const struct columns *c, struct columns_row **all)
{
	uint32_t n = 0;

	for (struct tstate *s = c->rows.all; s; s = s->next)
		if (!((struct columns_row *)s)->group)
			all[n++] = (struct columns_row *)s;
	return n;
}

/* Which row of the page a thread's is; + 1. */
static int choose_rows(struct pyramid *p, const struct columns *c, uint32_t *row_of)
{
	struct columns_row **all = calloc(c->nrows + 1, sizeof(*all));
	uint32_t n = all ? threads(c, all) : 0;

	p->nrows = n > PYRAMID_ROWS ? PYRAMID_ROWS + 1 : n;
	p->others = n > PYRAMID_ROWS ? n - PYRAMID_ROWS : 0;
	p->rows = calloc(p->nrows + 1, sizeof(*p->rows));
	if (!all || !p->rows) {
		free(all);
		return -ENOMEM;
	}
	qsort(all, n, sizeof(struct columns_row *), by_time);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = i < PYRAMID_ROWS ? i : PYRAMID_ROWS;

		row_of[all[i]->number] = row + 1;
		p->rows[row].of = row < PYRAMID_ROWS ? all[i] : NULL;
		p->rows[row].ns += all[i]->ns;
	}
	free(all);
	return 0;
}

static int collect(struct making *m, const struct columns *c)
{
	size_t n = cells_count(c);
	uint32_t *row_of = calloc(c->nrows + 1, sizeof(*row_of));
	int err = row_of ? choose_rows(m->p, c, row_of) : -ENOMEM;

	m->cells = calloc(n + 1, sizeof(*m->cells));
	m->merged = calloc(n + 1, sizeof(*m->merged));
	err = err ?: m->cells && m->merged ? 0 : -ENOMEM;
	m->ncells = err ? 0 : cells_join(m->cells, cells_collect(m->cells, c, m->f, row_of));
	free(row_of);
	return err;
}

static void add_total(struct making *m, int32_t path, uint64_t ns)
{
	for (uint32_t at = path < 0 ? ~path : path;; at = caller(m->f, at)) {
		if (!m->seen[at])
			m->touched[m->ntouched++] = at;
		m->seen[at] = true;
		m->total[at] += ns;
		if (!at)
			break;
	}
}

static bool is_kept(const struct making *m, uint32_t path)
{
	return !path || m->total[path] >= m->total[0] / m->p->parts;
}

static int put(struct making *m, struct pyramid_level *l, uint32_t block, int32_t path, const struct cell *of)
{
	struct pyramid_entry *e;

	if (!(l->n & (l->n - 1)) && !ARRAY_RESIZE(l->entries, l->n ? 2 * l->n : 1))
		return -ENOMEM;
	e = &l->entries[l->n++];
	*e = (struct pyramid_entry){ .block = block, .path = path, .ns = of->ns };
	memcpy(e->more, of->more, sizeof(e->more));
	m->entries++;
	return 0;
}

/* Cells of one block: those that are kept, and the sums of the others. */
static int put_block(struct making *m, struct pyramid_level *l, const struct cell *cells, size_t n)
{
	int err = 0;

	m->ntouched = 0;
	for (size_t i = 0; i < n; i++)
		add_total(m, cells[i].path, cells[i].ns);
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t at = cells[i].path < 0 ? ~cells[i].path : cells[i].path;

		if (cells[i].path >= 0 && is_kept(m, at)) {
			err = put(m, l, cells[i].column, cells[i].path, &cells[i]);
			continue;
		}
		while (!is_kept(m, at))
			at = caller(m->f, at);
		cell_add(&m->cut[at], &cells[i]);
	}
	for (uint32_t i = 0; i < m->ntouched; i++) {
		uint32_t at = m->touched[i];

		if (cell_has_values(&m->cut[at]) && !err)
			err = put(m, l, cells->column, ~(int32_t)at, &m->cut[at]);
		m->cut[at] = (struct cell){ 0 };
		m->total[at] = 0;
		m->seen[at] = false;
	}
	return err;
}

static int put_level(struct making *m, unsigned level, const struct cell *cells, size_t n)
{
	int err = 0;

	for (size_t i = 0, next; i < n && !err; i = next) {
		for (next = i + 1;
		     next < n && cells[next].row == cells[i].row && cells[next].column == cells[i].column;)
			next++;
		err = put_block(m, &m->p->rows[cells[i].row].levels[level], &cells[i], next - i);
	}
	return err;
}

static void forget(struct making *m)
{
	for (uint32_t i = 0; i < m->p->nrows; i++)
		for (int level = 0; level < PYRAMID_LEVELS; level++) {
			free(m->p->rows[i].levels[level].entries);
			m->p->rows[i].levels[level] = (struct pyramid_level){ 0 };
		}
	m->entries = 0;
}

/* All levels, from columns that are 1 << narrowest of the cells' wide. */
static int build(struct making *m, unsigned narrowest)
{
	size_t n = m->ncells;
	int err = 0;

	forget(m);
	memcpy(m->merged, m->cells, n * sizeof(*m->cells));
	m->p->nlevels = 0;
	for (unsigned level = 0, columns = m->columns; columns && !err; level++, columns /= 2) {
		if (level >= narrowest)
			err = put_level(m, m->p->nlevels++, m->merged, n);
		for (size_t i = 0; i < n; i++)
			m->merged[i].column /= 2;
		n = cells_join(m->merged, n);
	}
	return err;
}

/* As fine as the limit lets it be: fewer parts first, then wider columns. */
static int build_within(struct making *m)
{
	unsigned narrowest = 0;
	int err;

	m->p->parts = PYRAMID_PARTS;
	for (;;) {
		err = build(m, narrowest);
		if (err || m->entries <= PYRAMID_ENTRIES || m->p->nlevels <= 1)
			break;
		if (m->p->parts > PYRAMID_LEAST)
			m->p->parts /= 2;
		else
			narrowest++;
	}
	m->p->width_ns <<= narrowest;
	m->p->ncolumns = m->ncells ? (m->last >> narrowest) + 1 : 0;
	return err;
}

static void count_columns(struct making *m)
{
	for (size_t i = 0; i < m->ncells; i++)
		m->last = m->cells[i].column > m->last ? m->cells[i].column : m->last;
	for (m->columns = 1; m->columns <= m->last;)
		m->columns *= 2;
}

int pyramid_make(struct pyramid *p, const struct columns *c, const struct flame *f)
{
	struct making m = { .p = p, .f = f };
	int err;

	*p = (struct pyramid){ .origin_ns = c->origin_ns, .width_ns = c->width_ns };
	m.total = calloc(f->nshown + 1, sizeof(*m.total));
	m.cut = calloc(f->nshown + 1, sizeof(*m.cut));
	m.touched = calloc(f->nshown + 1, sizeof(*m.touched));
	m.seen = calloc(f->nshown + 1, sizeof(*m.seen));
	err = m.total && m.cut && m.touched && m.seen ? collect(&m, c) : -ENOMEM;
	if (!err) {
		count_columns(&m);
		err = build_within(&m);
	}
	free(m.cells);
	free(m.merged);
	free(m.total);
	free(m.cut);
	free(m.touched);
	free(m.seen);
	return err;
}

void pyramid_free(struct pyramid *p)
{
	for (uint32_t i = 0; i < p->nrows && p->rows; i++)
		for (int level = 0; level < PYRAMID_LEVELS; level++)
			free(p->rows[i].levels[level].entries);
	free(p->rows);
	*p = (struct pyramid){ 0 };
}
