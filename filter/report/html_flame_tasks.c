// SPDX-License-Identifier: MIT
/* Of the flame graph's data: coroutines of tasks, and single tasks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "html.h"
#include "html_flame.h"

/* Coroutines of tasks, each by its function's number, and how many tasks it had: those of several processes apart. */
int flame_write_coroutines(const struct flame_writing *w)
{
	size_t n = 0;
	const struct task_total **all = async_tasks_ranked(&w->page->p->tasks, &n);
	const char *comma = "\n";

	fputs("\"tasks\":[", w->page->f);
	for (size_t i = 0; all && i < n; i++) {
		int64_t place = all[i]->coroutine ? flame_place_shown(w->f, all[i]->coroutine) : -1;

		if (place < 0)
			continue;
		fprintf(w->page->f, "%s[%" PRId64 ",%" PRIu64 "]", comma, place, all[i]->n);
		comma = ",";
	}
	fputs("],\n", w->page->f);
	free(all);
	return all ? 0 : -ENOMEM;
}

static void write_about(const struct flame_writing *w, const struct task_tree *t, int64_t place)
{
	char text[CALLED_TEXT];

	fputs("{\"name\":", w->page->f);
	html_json(w->page->f, called_text(&t->called, text), PAGE_NAME);
	fprintf(w->page->f, ",\"pid\":%d,\"number\":%" PRIu64 ",\"coroutine\":%" PRId64 ",\n", t->pid, t->number,
		place);
}

/* *comma is what comes before it. 0 or -ENOMEM. */
static int write_task(struct flame_writing *w, const struct task_tree *t, const char **comma)
{
	int64_t place = t->coroutine ? flame_place_shown(w->f, t->coroutine) : -1;
	struct flame_view v = { 0 };
	int err = place < 0 ? 0 : flame_view_make(&v, w->f);

	for (uint32_t i = 0; i < t->n && place >= 0 && !err; i++)
		flame_view_put(&v, w->f, t->paths[i].node, &t->paths[i].own);
	if (place >= 0 && !err && flame_view_fits(w, &v)) {
		fputs(*comma, w->page->f);
		*comma = ",\n";
		write_about(w, t, place);
		flame_write_view(w, &v);
	}
	flame_view_free(&v);
	return err;
}

int flame_write_single(struct flame_writing *w)
{
	const struct task_trees *all = w->page->task_trees;
	const char *comma = "\n";
	int err = 0;

	fputs("\"task_views\":[", w->page->f);
	for (uint32_t i = 0; i < all->n && !err; i++)
		err = write_task(w, &all->all[i], &comma);
	fputs("],\n", w->page->f);
	return err;
}
