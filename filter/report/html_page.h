/* SPDX-License-Identifier: MIT */
/* html_page.h - the sections of the HTML report, each written to a stream. sink_html.c puts them together. */
#pragma once

#include <stdio.h>

#include "columns.h"
#include "flame.h"
#include "model/profile.h"
#include "base/source.h"
#include "summed.h"
#include "task_trees.h"

/* All functions or loops, the program's own first; the first `kept` are worth a row. */
struct page_list {
	struct summed *all;
	size_t n, kept;
};

/* A page being written. */
struct page {
	FILE *f;
	const struct profile *p;
	struct sources sources;
	struct flame flame;
	const struct columns *columns;	     /* finished */
	const struct task_trees *task_trees; /* sorted */
	struct page_list functions, loops;
};

/* How much of each a page shows; it says how much more there is. */
#define PAGE_SIGHT     15 /* rows of a table that are not folded */
#define PAGE_LOOPS     100
#define PAGE_BODIES    20 /* loops shown in detail */
#define PAGE_FUNCTIONS 300
#define PAGE_OPCODES   300
#define PAGE_SOURCES   20     /* functions with their source */
#define PAGE_LINES     400    /* of one function */
#define PAGE_LINE      400    /* bytes of a source line */
#define PAGE_NAME      96     /* characters of a name */
#define PAGE_SHARE     0.0005 /* what has less would be a row of 0.0% */

/* Each: 0 or -ENOMEM. */
int page_loops(struct page *page);
int page_first(struct page *page);    /* nothing if no function ran */
int page_flame(struct page *page);    /* nothing if no function ran */
int page_timeline(struct page *page); /* the same */
int page_functions(struct page *page);
int page_c_functions(struct page *page); /* nothing if there are none */
int page_waits(struct page *page);	 /* the same */
int page_spans(struct page *page);	 /* the same */
int page_tasks(struct page *page);	 /* the same */
int page_greenlets(struct page *page);	 /* the same */
int page_requests(struct page *page);	 /* the same */
int page_locks(struct page *page);	 /* the same */
int page_gil(struct page *page);	 /* the same */
int page_imports(struct page *page);	 /* the same */
int page_exceptions(struct page *page);	 /* the same */
int page_sources(struct page *page);
int page_compiled(struct page *page);
int page_native(struct page *page);
int page_opcodes(struct page *page);
int page_specialization(struct page *page);
int page_events(struct page *page);

/* The rows of tasks of the timeline, `columns` of `width_ns`. */
void page_task_rows(struct page *page, uint32_t columns, uint64_t width_ns);

/* What it ran, what is missing, and links to the sections. */
void page_head(struct page *page);

/* The clock and other facts. */
void page_facts(struct page *page);

/* Fills in the page's lists. 0 or -ENOMEM; page_lists_free() either way. */
int page_lists(struct page *page);
void page_lists_free(struct page *page);

/* What a kind of wait is called on the page. */
const char *page_wait(enum wait_kind kind);

/* How many are not worth a row, if there are any. */
void page_left_out(struct page *page, const struct page_list *list, const char *what);

/* The place of the i-th of a list; of the first `most` a link to #ANCHOR, numbered from 1. */
void page_link(struct page *page, const struct summed *s, const char *anchor, size_t i, size_t most);

/* Both parts of what page_place() writes. The file is named as people know it; all of it is its tooltip. */
void page_name(struct page *page, const struct code *code);
void page_file(struct page *page, const struct code *code, int64_t line);

/* "QUALNAME file:LINE", without a line of 0 or less. */
void page_place(struct page *page, const struct code *code, int64_t line);

/* Says whose details follow, if it ran in several processes (summed_details()). */
void page_details(struct page *page, const struct summed *s);

/* A table: the first rows visible, further ones folded, and how many there are beyond those. */
struct page_table {
	const char *head; /* its cells */
	const char *what; /* its rows are */
	size_t n, most;
	void (*row)(struct page *page, const void *of, size_t i);
	const void *of; /* passed to row */
};

void page_table(struct page *page, const struct page_table *t);

/* A section of one table, unless that has no rows. `of` is freed; if it is NULL: -ENOMEM. */
int page_section(struct page *page, const char *id, const char *title, const struct page_table *t, void *of);

/* A cell with a name, elided. */
void page_name_cell(struct page *page, const char *name);
