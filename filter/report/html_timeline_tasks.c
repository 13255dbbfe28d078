// SPDX-License-Identifier: MIT
/*
 * The timeline's rows of tasks: for each coroutine how many of its tasks ran, could have run, and awaited something, in
 * the mean of each column; in thousandths.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"

#define ROWS  12 /* those with most running time */
#define KINDS 3

static const struct {
	enum critical_kind kind;
	const char *name;
} kinds[KINDS] = { { CRITICAL_RUNNING, "running" }, { CRITICAL_READY, "ready" }, { CRITICAL_AWAITING, "awaiting" } };

struct lane {
	const struct task_total *total;
	const struct columns_row *row;
	uint64_t *ns; /* [columns][KINDS] */
};

static void write_times(FILE *f, const struct lane *l, int kind, uint32_t columns, uint64_t width_ns)
{
	fprintf(f, ",\n\"%s\":\"", kinds[kind].name);
	for (uint32_t i = 0; i < columns; i++)
		html_packed(f, (1000 * l->ns[i * KINDS + kind] + width_ns / 2) / width_ns);
	fputs("\"", f);
}

static void write_lane(FILE *f, const struct lane *l, uint32_t columns, uint64_t width_ns)
{
	fputs("{\"name\":", f);
	html_json(f, l->total->coroutine->qualname, PAGE_NAME);
	fprintf(f, ",\"pid\":%d,\"tasks\":%" PRIu64, l->row->tstate.pid, l->total->n);
	for (int kind = 0; kind < KINDS; kind++)
		write_times(f, l, kind, columns, width_ns);
	fputs("}", f);
}

static int kind_of(uint32_t node)
{
	for (int i = 0; i < KINDS; i++)
		if (node == kinds[i].kind + 1u)
			return i;
	return -1;
}

/* Columns of the page may be several of those that were kept. */
static void fill(struct lane *lanes, size_t n, const struct columns *c, uint32_t columns, uint64_t width_ns)
{
	for (const struct column_cell *cell = c->cells.all; cell < c->cells.all + c->cells.n; cell++) {
		uint32_t column = columns_column(cell->key) / (width_ns / c->width_ns);
		int kind = kind_of(columns_node(cell->key));

		for (size_t i = 0; i < n && kind >= 0 && column < columns; i++)
			if (lanes[i].ns && lanes[i].row->number == columns_number(cell->key))
				lanes[i].ns[column * KINDS + kind] += cell->ns;
	}
}

static size_t find_lanes(struct lane *lanes, const struct page *page, const struct task_total **all, size_t nall)
{
	size_t n = 0;

	for (size_t i = 0; i < nall && n < ROWS; i++) {
		const struct code *code = all[i]->coroutine;

		lanes[n] = (struct lane){ .total = all[i] };
		if (code)
			lanes[n].row = columns_find_group(page->columns, code->process->pid, code->id);
		n += lanes[n].row != NULL;
	}
	return n;
}

void page_task_rows(struct page *page, uint32_t columns, uint64_t width_ns)
{
	struct lane lanes[ROWS + 1];
	size_t nall = 0, n;
	const struct task_total **all = async_tasks_ranked(&page->p->tasks, &nall);
	const char *comma = "\n";

	n = all ? find_lanes(lanes, page, all, nall) : 0;
	for (size_t i = 0; i < n; i++)
		lanes[i].ns = calloc((size_t)columns * KINDS + 1, sizeof(*lanes[i].ns));
	fill(lanes, n, page->columns, columns, width_ns);
	for (size_t i = 0; i < n; i++) {
		if (!lanes[i].ns)
			continue;
		fputs(comma, page->f);
		comma = ",\n";
		write_lane(page->f, &lanes[i], columns, width_ns);
		free(lanes[i].ns);
	}
	free(all);
}
