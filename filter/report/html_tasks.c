// SPDX-License-Identifier: MIT
/* Tasks by their coroutines; requests, and of the slowest where its time went. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"

/* Where something waited longest. */
static void write_where(struct page *page, const struct waited *w)
{
	const struct wait_place *most = waited_most(w);

	page_name_cell(page, !most->ns ? "" : most->where ? most->where->qualname : "others");
}

static void write_task(struct page *page, const void *of, size_t i)
{
	const struct task_total *t = ((const struct task_total *const *)of)[i];

	fputs("<tr>", page->f);
	html_duration(page->f, t->running_ns);
	html_duration(page->f, t->ready_ns);
	html_duration(page->f, t->wall_ns - t->running_ns - t->ready_ns);
	html_duration(page->f, t->longest_ns);
	html_number(page->f, t->n);
	html_number(page->f, t->unfinished);
	html_number(page->f, t->resumptions);
	write_where(page, &t->waits);
	page_name_cell(page, t->coroutine ? t->coroutine->qualname : "(not begun)");
	fputs("</tr>\n", page->f);
}

int page_tasks(struct page *page)
{
	struct page_table t = {
		.head = "<th>running</th><th>ready</th><th>waiting</th><th>longest task</th><th>tasks</th><th>not "
			"ended</th><th>resumed</th><th class=t>mostly waiting in</th><th class=t>coroutine</th>",
		.what = "coroutines",
		.most = PAGE_FUNCTIONS,
		.row = write_task,
	};
	const struct task_total **all = async_tasks_ranked(&page->p->tasks, &t.n);

	return page_section(page, "tasks", "Tasks", &t, all);
}

static void write_total(struct page *page, const void *of, size_t i)
{
	const struct request_total *t = ((const struct request_total *const *)of)[i];
	char text[CALLED_TEXT];

	fputs("<tr>", page->f);
	html_duration(page->f, t->ns);
	html_number(page->f, t->n);
	html_duration(page->f, t->by_kind[CRITICAL_RUNNING]);
	html_duration(page->f, t->by_kind[CRITICAL_READY]);
	html_duration(page->f, t->by_kind[CRITICAL_AWAITING] + t->by_kind[CRITICAL_BLOCKED]);
	html_duration(page->f, t->n ? t->ns / t->n : 0);
	html_duration(page->f, t->longest_ns);
	html_number(page->f, t->unfinished);
	write_where(page, &t->waits);
	page_name_cell(page, called_text(&t->called, text));
	fputs("</tr>\n", page->f);
}

static void write_piece(struct page *page, const void *of, size_t i)
{
	const struct critical_piece *c = &((const struct critical_piece *)of)[i];
	char text[CALLED_TEXT];

	fputs("<tr>", page->f);
	html_duration(page->f, c->ns);
	fprintf(page->f, "<td>%s%s%s</td>", critical_kind_name(c->kind), c->wait ? ": " : "",
		c->wait ? wait_name(c->wait) : "");
	page_name_cell(page, c->what ? c->what->qualname : "-");
	page_name_cell(page, c->by ? c->by->qualname : "");
	page_name_cell(page, called_text(&c->called, text));
	fprintf(page->f, "<td>%d</td></tr>\n", c->tid);
}

static void write_slowest(struct page *page, const struct request *q)
{
	const struct page_table t = {
		.head = "<th>time</th><th class=t>how</th><th class=t>function</th><th class=t>awaited by</th><th "
			"class=t>task</th><th>thread</th>",
		.what = "pieces",
		.most = PAGE_FUNCTIONS,
		.row = write_piece,
		.of = q->path.pieces,
		.n = q->path.n,
	};
	char text[CALLED_TEXT];

	fputs("<h3>Where the time of the slowest went, in order: ", page->f);
	html_text(page->f, called_text(&q->called, text));
	fputs("</h3>\n", page->f);
	page_table(page, &t);
}

int page_requests(struct page *page)
{
	struct page_table t = {
		.head = "<th>wall</th><th>times</th><th>running</th><th>ready</th><th>waiting</th><th>mean</th>"
			"<th>longest</th><th>not ended</th><th class=t>mostly waiting in</th><th class=t>request</th>",
		.what = "requests",
		.most = PAGE_FUNCTIONS,
		.row = write_total,
	};
	const struct request_total **all = requests_ranked(&page->p->requests, &t.n);

	if (!all)
		return -ENOMEM;
	t.of = all;
	if (t.n) {
		fputs("<section id=requests>\n<h2>Requests</h2>\n", page->f);
		page_table(page, &t);
		if (page->p->requests.n)
			write_slowest(page, page->p->requests.slowest[0]);
		fputs("</section>\n", page->f);
	}
	free(all);
	return 0;
}
