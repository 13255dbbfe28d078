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
	struct cells_numbers numbers;
	uint32_t *row_of;
	struct cell *cells, *merged, *next; /* by row, column, what they are of */
	size_t ncells;
	uint32_t *above;   /* [of the page, paths or functions]: what it is added up below; of 0: 0 */
	uint64_t *total;   /* the same: of the block at hand */
	uint32_t *missing; /* how many of those below it have not been added to its total yet; DONE: it has been itself;
			      after that: where it is kept, if that was looked for */
	struct cell *cut;  /* of what is smaller */
	bool *seen;	   /* it is in touched */
	uint32_t *touched; /* [ntouched], callers among them: each behind something below it */
	uint32_t ntouched;
	uint64_t least; /* of the block: what is kept has so much */
	size_t entries;
	unsigned level;	   /* which is being made */
	uint32_t last;	   /* column */
	unsigned halvings; /* so often until the widest block is all of the time, and once more */
};

#define DONE UINT32_MAX

/* A path's caller; or the whole. */
static void find_above(struct making *m)
{
	const struct flame *f = m->numbers.f;
	bool paths = m->numbers.kind == PYRAMID_PATHS;
	uint32_t n = paths ? f->nshown : f->nshown_places + 1;

	m->above[0] = 0;
	for (uint32_t i = 1; i < n; i++)
		m->above[i] = paths ? (uint32_t)f->nodes[f->nodes[f->shown[i]].parent].of : 0;
}

static int by_time(const void *left, const void *right)
{
	const struct columns_row *a = *(struct columns_row *const *)left, *b = *(struct columns_row *const *)right;

	int order = (a->ns < b->ns) - (a->ns > b->ns);

	order = order ?: (a->born_ns > b->born_ns) - (a->born_ns < b->born_ns);
	order = order ?: (a->tstate.pid > b->tstate.pid) - (a->tstate.pid < b->tstate.pid);
	return order ?: (a->tstate.tid > b->tstate.tid) - (a->tstate.tid < b->tstate.tid);
}

static uint32_t threads(const struct columns *c, struct columns_row **all)
{
	uint32_t n = 0;

	for (struct tstate *s = c->rows.all; s; s = s->next)
		if (!((struct columns_row *)s)->group)
			all[n++] = (struct columns_row *)s;
	return n;
}

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

/* Callers of what was seen were, too. */
static void touch(struct making *m, uint32_t of)
{
	for (uint32_t at = of; !m->seen[at]; at = m->above[at]) {
		m->seen[at] = true;
		m->touched[m->ntouched++] = at;
		m->missing[m->above[at]] += at != 0;
	}
}

/* Totals with all below: once for each of them, however many cells are below it. */
static void add_up(struct making *m)
{
	for (uint32_t i = 0, above; i < m->ntouched; i++)
		for (uint32_t at = m->touched[i]; at && !m->missing[at]; at = above) {
			above = m->above[at];
			m->total[above] += m->total[at];
			m->missing[above]--;
			m->missing[at] = DONE;
		}
}

/* A function that is kept in each of two columns is kept in the pair of them. */
static uint64_t least_of(const struct making *m)
{
	unsigned finer = m->numbers.kind == PYRAMID_FUNCTIONS && m->p->of_columns ? m->level : 0;

	return m->total[0] / ((uint64_t)m->p->parts[m->numbers.kind] << finer);
}

/* Is it kept, of a total that includes all below it? */
static bool is_kept(const struct making *m, uint32_t of)
{
	return !of || m->total[of] >= m->least;
}

static uint32_t next_above(const struct making *m, uint32_t of)
{
	return m->missing[of] == DONE ? m->above[of] : m->missing[of];
}

/* The nearest that is kept. Nothing is passed twice: a recursion may be thousands of calls deep, in each column. */
static uint32_t kept_above(struct making *m, uint32_t of)
{
	uint32_t kept = of;

	while (!is_kept(m, kept))
		kept = next_above(m, kept);
	for (uint32_t next; of != kept; of = next) {
		next = next_above(m, of);
		m->missing[of] = kept;
	}
	return kept;
}

static int put(struct making *m, struct pyramid_level *l, uint32_t block, int32_t of, const struct cell *cell)
{
	struct pyramid_entry *e;

	if (!(l->n & (l->n - 1)) && !ARRAY_RESIZE(l->entries, l->n ? 2 * l->n : 1))
		return -ENOMEM;
	e = &l->entries[l->n++];
	*e = (struct pyramid_entry){ .block = block, .of = of, .ns = cell->ns };
	memcpy(e->more, cell->more, sizeof(e->more));
	m->entries++;
	return 0;
}

static void total_block(struct making *m, const struct cell *cells, size_t n)
{
	m->ntouched = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = cell_of(&cells[i]);

		touch(m, at);
		m->total[at] += cells[i].ns;
	}
	add_up(m);
	m->least = least_of(m);
}

/* What is smaller; nothing of the block is left. */
static int put_cut(struct making *m, struct pyramid_level *l, uint32_t block)
{
	int err = 0;

	for (uint32_t i = 0; i < m->ntouched; i++) {
		uint32_t at = m->touched[i];

		if (cell_has_values(&m->cut[at]) && !err)
			err = put(m, l, block, ~(int32_t)at, &m->cut[at]);
		m->cut[at] = (struct cell){ 0 };
		m->total[at] = 0;
		m->missing[at] = 0;
		m->seen[at] = false;
	}
	return err;
}

/* Cells of one block: those that are kept, and the sums of the others. */
static int put_block(struct making *m, struct pyramid_level *l, const struct cell *cells, size_t n)
{
	int err = 0, last;

	total_block(m, cells, n);
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t at = cell_of(&cells[i]);

		if (cells[i].of >= 0 && is_kept(m, at)) {
			err = put(m, l, cells[i].column, cells[i].of, &cells[i]);
			continue;
		}
		cell_add(&m->cut[kept_above(m, at)], &cells[i]);
	}
	last = put_cut(m, l, cells->column);
	return err ?: last;
}

static bool is_within(const struct making *m)
{
	return m->entries <= PYRAMID_ENTRIES;
}

/* Or the beginning of it: more than that is not needed of a pyramid that is too large. */
static int put_level(struct making *m, const struct cell *cells, size_t n)
{
	int err = 0;

	for (size_t i = 0, next; i < n && !err && is_within(m); i = next) {
		next = cells_block(cells, i, n);
		err = put_block(m, &m->p->rows[cells[i].row].levels[m->numbers.kind][m->level], &cells[i], next - i);
	}
	return err;
}

static void forget(struct pyramid *p, enum pyramid_of kind)
{
	for (uint32_t i = 0; i < p->nrows && p->rows; i++)
		for (int level = 0; level < PYRAMID_LEVELS; level++) {
			free(p->rows[i].levels[kind][level].entries);
			p->rows[i].levels[kind][level] = (struct pyramid_level){ 0 };
		}
}

/* All levels, from columns that are 1 << narrowest of the cells' wide; unless they have too many entries. */
static int build(struct making *m, unsigned narrowest)
{
	const struct cell *cells = m->cells;
	size_t n = m->ncells;
	int err = 0;

	forget(m->p, m->numbers.kind);
	m->entries = 0;
	m->level = 0;
	for (unsigned halved = 0; halved < m->halvings && !err && is_within(m); halved++) {
		struct cell *to = cells == m->merged ? m->next : m->merged;

		if (halved >= narrowest) {
			err = put_level(m, cells, n);
			m->level++;
		}
		n = cells_halve(to, cells, n);
		cells = to;
	}
	m->p->nlevels = m->halvings - narrowest;
	return err;
}

/* As fine as the limit lets it be. 1: it needs wider columns. */
static int build_within(struct making *m, unsigned narrowest)
{
	uint32_t *parts = &m->p->parts[m->numbers.kind];
	int err;

	*parts = PYRAMID_PARTS;
	m->p->of_columns = m->numbers.kind == PYRAMID_FUNCTIONS;
	for (;;) {
		err = build(m, narrowest);
		if (err || is_within(m))
			return err;
		if (*parts > PYRAMID_LEAST)
			*parts /= 2;
		else if (m->p->of_columns)
			m->p->of_columns = false;
		else
			return m->p->nlevels > 1;
	}
}

static void count_columns(struct making *m)
{
	for (size_t i = 0; i < m->ncells; i++)
		m->last = m->cells[i].column > m->last ? m->cells[i].column : m->last;
	for (m->halvings = 1; m->last >> (m->halvings - 1);)
		m->halvings++;
}

/* And room for those of wider columns: each level is made of the one before, so that two are needed by turns. */
static int collect(struct making *m, const struct columns *c)
{
	free(m->cells);
	free(m->merged);
	free(m->next);
	m->merged = m->next = NULL;
	m->cells = cells_collect(&m->ncells, c, &m->numbers);
	if (!m->cells)
		return -ENOMEM;
	m->merged = calloc(m->ncells + 1, sizeof(*m->merged));
	m->next = calloc(m->ncells + 1, sizeof(*m->next));
	return m->merged && m->next ? 0 : -ENOMEM;
}

/* Both have the same columns: as wide as the one with more entries needs them. */
static int build_all(struct making *m, const struct columns *c)
{
	unsigned narrowest = 0;

	for (int kind = 0; kind < PYRAMIDS;) {
		int err;

		m->numbers.kind = kind;
		err = collect(m, c);
		if (err)
			return err;
		find_above(m);
		count_columns(m);
		err = build_within(m, narrowest);
		if (err < 0)
			return err;
		narrowest += err;
		kind = err ? 0 : kind + 1;
	}
	m->p->width_ns <<= narrowest;
	m->p->ncolumns = m->ncells ? (m->last >> narrowest) + 1 : 0;
	return 0;
}

static int make_room(struct making *m, const struct columns *c, const struct flame *f)
{
	size_t n = (f->nshown > f->nshown_places ? f->nshown : f->nshown_places) + 1;

	m->row_of = calloc(c->nrows + 1, sizeof(*m->row_of));
	m->numbers = (struct cells_numbers){ PYRAMID_PATHS, f, m->row_of };
	m->above = calloc(n, sizeof(*m->above));
	m->missing = calloc(n, sizeof(*m->missing));
	m->total = calloc(n, sizeof(*m->total));
	m->cut = calloc(n, sizeof(*m->cut));
	m->touched = calloc(n, sizeof(*m->touched));
	m->seen = calloc(n, sizeof(*m->seen));
	return m->row_of && m->above && m->missing && m->total && m->cut && m->touched && m->seen ? 0 : -ENOMEM;
}

int pyramid_make(struct pyramid *p, const struct columns *c, const struct flame *f)
{
	struct making m = { .p = p };
	int err;

	*p = (struct pyramid){ .origin_ns = c->origin_ns, .width_ns = c->width_ns };
	err = make_room(&m, c, f) ?: choose_rows(p, c, m.row_of) ?: build_all(&m, c);
	free(m.row_of);
	free(m.cells);
	free(m.merged);
	free(m.next);
	free(m.above);
	free(m.missing);
	free(m.total);
	free(m.cut);
	free(m.touched);
	free(m.seen);
	return err;
}

void pyramid_free(struct pyramid *p)
{
	for (int kind = 0; kind < PYRAMIDS; kind++)
		forget(p, kind);
	free(p->rows);
	*p = (struct pyramid){ 0 };
}
