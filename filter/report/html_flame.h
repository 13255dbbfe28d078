/* SPDX-License-Identifier: MIT */
/* html_flame.h - what the files share that write the flame graph's data. */
#pragma once

#include "html_page.h"

#define FLAME_NUMBERS 36000 /* paths of all views: what is beyond is in the whole run only */

struct flame_writing {
	struct page *page;
	const struct flame *f;
	bool has[FLAME_VALUES];
	size_t numbers;	   /* paths written so far */
	uint32_t left_out; /* threads that have no view */
};

/* Is there room for another view? */
bool flame_view_fits(const struct flame_writing *w, const struct flame_view *v);

/* "paths": and the values of each, up to the view's closing brace. */
void flame_write_view(struct flame_writing *w, const struct flame_view *v);

/* "tasks": coroutines of tasks; "task_views": single tasks, as many as there is room for. 0 or -ENOMEM. */
int flame_write_coroutines(const struct flame_writing *w);
int flame_write_single(struct flame_writing *w);
