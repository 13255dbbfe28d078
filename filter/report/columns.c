// SPDX-License-Identifier: MIT
/* Most events are in the column of the one before, and in one of a few nodes: those are added up in the row first. */
#include "columns.h"

#include <errno.h>
#include <stdlib.h>

/* What is in a place of `recent`: it is free then. */
static int add_place(struct columns *c, const struct columns_row *row, struct columns_recent *r)
{
	const struct column_cell cell = { .key = columns_key(row->number, row->column, r->node),
					  .ns = r->ns,
					  .more[COLUMNS_CALLS] = r->calls };
	int err = r->ns || r->calls ? column_cells_add(&c->cells, &cell) : 0;

	*r = (struct columns_recent){ 0 };
	return err;
}

static int add_recent(struct columns *c, struct columns_row *row)
{
	int err = 0;

	for (int i = 0; i < COLUMNS_RECENT && !err; i++)
		if (row->recent[i].node)
			err = add_place(c, row, &row->recent[i]);
	return err;
}

/* Nothing is in a row any more. */
static int flush(struct columns *c)
{
	int err = 0;

	for (struct tstate *s = c->rows.all; s && !err; s = s->next)
		err = add_recent(c, (struct columns_row *)s);
	return err;
}

/* What is in rows is of one column each: that of the wider one. */
void columns_widen(struct columns *c)
{
	column_cells_halve(&c->cells);
	c->width_ns *= 2;
	c->shift++;
	c->told.next = 0;
	for (struct tstate *s = c->rows.all; s; s = s->next) {
		((struct columns_row *)s)->column /= 2;
		((struct columns_row *)s)->column_end_ns = 0;
	}
}

static bool is_full(struct columns *c)
{
	bool full = c->shared ? columns_shared_full(c) : columns_too_many(&c->cells);

	return full && c->shift < COLUMNS_WIDEST;
}

/* Makes room for what is at ns. */
static void reach(struct columns *c, uint64_t ns)
{
	while ((ns - c->origin_ns) >> c->shift >= COLUMNS_MOST || is_full(c))
		columns_widen(c);
}

/* So wide as they would be if there had been all cells at once. */
int columns_finish(struct columns *c)
{
	int err = flush(c);

	while (!err && is_full(c))
		columns_widen(c);
	return err;
}

/* There is room for it. */
static uint32_t column_at(const struct columns *c, uint64_t ns)
{
	return (ns - c->origin_ns) >> c->shift;
}

/* Where the column ends, or what comes first. */
static uint64_t column_end(const struct columns *c, uint32_t column, uint64_t until)
{
	uint64_t begin_ns = c->origin_ns + ((uint64_t)column << c->shift);

	return until - begin_ns > c->width_ns ? begin_ns + c->width_ns : until;
}

/* A place of `recent` becomes this node's; what was in it, and all of another column, is added. */
static int take_place(struct columns *c, struct columns_row *row, uint32_t column, uint32_t node)
{
	struct columns_recent *r = &row->recent[node % COLUMNS_RECENT];
	int err = row->column != column ? add_recent(c, row) : r->node ? add_place(c, row, r) : 0;

	row->column = column;
	row->column_end_ns = column_end(c, column, UINT64_MAX);
	r->node = node;
	return err;
}

/* What is of one column. */
static int add_to_column(struct columns *c, struct columns_row *row, uint32_t column, uint32_t node, uint64_t ns,
			 uint32_t calls)
{
	struct columns_recent *r = &row->recent[node % COLUMNS_RECENT];
	bool is_there = r->node == node && row->column == column;
	int err = is_there ? 0 : take_place(c, row, column, node);

	r->ns += ns;
	r->calls += calls;
	row->ns += ns;
	return err;
}

int columns_were_called(struct columns *c, struct columns_row *row, uint32_t node, uint64_t calls, uint64_t ns)
{
	row->since_ns += ns;
	return add_to_column(c, row, row->column, node, ns, calls);
}

static int add_span(struct columns *c, struct columns_row *row, uint64_t from, uint64_t until)
{
	int err = 0;

	reach(c, until);
	while (from < until && !err) {
		uint32_t column = column_at(c, from);
		uint64_t end = column_end(c, column, until);

		err = add_to_column(c, row, column, row->node, end - from, 0);
		from = end;
	}
	return err;
}

struct columns_row *columns_row(struct columns *c, int32_t pid, int32_t tid)
{
	struct columns_row *row = tstate_of(&c->rows, pid, tid, 0, sizeof(*row));

	if (row && !row->numbered) {
		row->number = c->nrows++;
		row->numbered = true;
	}
	return row;
}

/* No thread has such a number. */
static int32_t group_number(uint32_t of)
{
	return -1 - (int32_t)of;
}

struct columns_row *columns_group(struct columns *c, int32_t pid, uint32_t of)
{
	struct columns_row *row = columns_row(c, pid, group_number(of));

	if (row)
		row->group = true;
	return row;
}

const struct columns_row *columns_find_group(const struct columns *c, int32_t pid, uint32_t of)
{
	return (const struct columns_row *)tstate_thread(&c->rows, pid, group_number(of));
}

static void begin(struct columns *c, uint64_t ns)
{
	if (c->begun)
		return;
	c->begun = true;
	c->origin_ns = c->shared ? agreement_reach(&c->shared->origin, ns) : ns;
	c->shift = COLUMNS_SHIFT;
	c->width_ns = COLUMNS_WIDTH;
}

/* Its time, or more of it. */
static int add_cell(struct columns *c, uint64_t key, enum columns_more kind, uint64_t ns)
{
	struct column_cell cell = { .key = key };

	*(kind == COLUMNS_MORE ? &cell.ns : &cell.more[kind]) = ns;
	return column_cells_add(&c->cells, &cell);
}

/* COLUMNS_MORE: its time. Not by way of `recent`: what is added next is in any column. */
static int add_each(struct columns *c, enum columns_more kind, const struct columns_row *row, uint32_t node,
		    uint64_t from, uint64_t until)
{
	int err = 0;

	from = from < c->origin_ns ? c->origin_ns : from;
	if (from < until)
		reach(c, until);
	while (from < until && !err) {
		uint32_t column = column_at(c, from);
		uint64_t end = column_end(c, column, until);

		err = add_cell(c, columns_key(row->number, column, node), kind, end - from);
		from = end;
	}
	return err;
}

int columns_add(struct columns *c, struct columns_row *row, uint32_t node, uint64_t from, uint64_t until)
{
	begin(c, from);
	from = from < c->origin_ns ? c->origin_ns : from;
	row->ns += from < until ? until - from : 0;
	return add_each(c, COLUMNS_MORE, row, node, from, until);
}

int columns_call(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node)
{
	uint64_t at = ns < c->origin_ns ? 0 : ns - c->origin_ns;

	reach(c, c->origin_ns + at);
	return add_to_column(c, row, at >> c->shift, node, 0, 1);
}

/* There was an event after them. */
static int add_away(struct columns *c, struct columns_row *row)
{
	int err = 0;

	for (uint32_t i = 0; i < row->naway && !err; i++)
		err = add_each(c, row->away[i].kind, row, row->away[i].node, row->away[i].from, row->away[i].until);
	row->naway = 0;
	return err;
}

/* More of them without an event between are taken for the thread's time. */
static int put_off(struct columns *c, struct columns_row *row, enum columns_more kind, uint64_t from, uint64_t until)
{
	int err = row->naway == COLUMNS_AWAY ? add_away(c, row) : 0;

	if (from < until && row->node) {
		row->away[row->naway].node = row->node;
		row->away[row->naway].kind = kind;
		row->away[row->naway].from = from;
		row->away[row->naway++].until = until;
	}
	return err;
}

int columns_off(struct columns *c, struct columns_row *row, uint64_t ns, uint64_t last_ns, struct off off)
{
	uint64_t from = ns - off.waiting_ns;
	int err = last_ns > row->away_ns ? add_away(c, row) : 0;

	begin(c, row->since_ns);
	row->away_ns = last_ns;
	err = err ?: put_off(c, row, COLUMNS_WAITING, from, ns);
	return err ?: put_off(c, row, COLUMNS_PREEMPTED, from - (off.ns - off.waiting_ns), from);
}

int columns_end(struct columns *c, struct columns_row *row, uint64_t end_ns)
{
	int err = end_ns > row->away_ns ? add_away(c, row) : 0;

	row->naway = 0;
	return err;
}

int columns_go(struct columns *c, struct columns_row *row, uint64_t ns, uint32_t node)
{
	uint64_t from = row->since_ns < c->origin_ns ? c->origin_ns : row->since_ns;
	int err = add_away(c, row);

	begin(c, ns);
	if (row->node && ns > from)
		err = add_span(c, row, from, ns);
	row->node = node;
	row->since_ns = ns > row->since_ns ? ns : row->since_ns;
	return err;
}

uint64_t columns_sum(const struct columns *c, const struct columns_row *row, uint32_t node, uint32_t column, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = column; i < column + n && i < COLUMNS_MOST; i++) {
		const struct column_cell *cell = column_cells_find(&c->cells, columns_key(row->number, i, node));

		sum += cell ? cell->ns : 0;
	}
	return sum;
}

void columns_share(struct columns *c, struct columns_shared *shared)
{
	c->shared = shared;
	columns_shared_enter(shared, c);
}

/* What begins only after that, when all is over, is nobody's first event; and if it were, columns_join() would see. */
void columns_heard(struct columns *c)
{
	struct columns_shared *shared = c->shared;

	c->shared = NULL;
	if (shared && !c->begun)
		agreement_leave(&shared->origin);
	if (shared)
		columns_shared_end(shared, c);
}

/* Both begin at one time and are of one width then. */
static int adapt(struct columns *to, struct columns *more)
{
	int err = flush(to) ?: flush(more);

	if (!to->begun)
		begin(to, more->origin_ns);
	if (to->origin_ns != more->origin_ns)
		return -EAGAIN;
	while (to->shift < more->shift)
		columns_widen(to);
	while (more->shift < to->shift)
		columns_widen(more);
	return err;
}

/* by[its number before]: how much higher its nodes are; those of a group are none. */
static int join_row(struct columns *to, const struct columns_row *more, uint32_t nodes, uint32_t *by)
{
	const struct tstate *s = &more->tstate;
	struct columns_row *row = tstate_of(&to->rows, s->pid, s->tid, 0, sizeof(*row));
	struct tstate tstate;

	if (!row || row->numbered)
		return row ? -EAGAIN : -ENOMEM;
	tstate = row->tstate;
	*row = *more;
	row->tstate = tstate;
	row->number += to->nrows;
	by[more->number] = more->group ? 0 : nodes;
	return 0;
}

/* A thread's row is of the same process as that of its waits. */
static void find_waits(struct columns *to, const struct columns *more)
{
	for (const struct tstate *s = more->rows.all; s; s = s->next) {
		struct columns_row *row = (struct columns_row *)tstate_find(&to->rows, s->pid, s->tid, 0);

		if (row->waits)
			row->waits = (const struct columns_row *)tstate_find(&to->rows, s->pid, row->waits->tstate.tid,
									     0);
	}
}

static int join_cells(struct column_cells *to, const struct column_cells *more, uint32_t rows, const uint32_t *by)
{
	int err = 0;

	for (uint32_t i = 0; i < more->n && !err; i++) {
		struct column_cell cell = more->all[i];
		uint32_t row = columns_number(cell.key);

		cell.key = columns_key(rows + row, columns_column(cell.key), by[row] + columns_node(cell.key));
		err = column_cells_add(to, &cell);
	}
	return err;
}

static int join_all(struct columns *to, struct columns *more, uint32_t nodes, uint32_t *by)
{
	int err = more->begun ? adapt(to, more) : 0;

	for (const struct tstate *s = more->rows.all; s && !err; s = s->next)
		err = join_row(to, (const struct columns_row *)s, nodes, by);
	if (err)
		return err;
	find_waits(to, more);
	err = join_cells(&to->cells, &more->cells, to->nrows, by);
	to->nrows += more->nrows;
	return err;
}

int columns_join(struct columns *to, struct columns *more, uint32_t nodes)
{
	uint32_t *by = calloc(more->nrows + 1, sizeof(*by));
	int err = by ? join_all(to, more, nodes, by) : -ENOMEM;

	free(by);
	columns_free(more);
	return err ?: columns_finish(to); /* before the next ones are added */
}

void columns_free(struct columns *c)
{
	tstates_free(&c->rows, NULL);
	column_cells_free(&c->cells);
	*c = (struct columns){ 0 };
}
