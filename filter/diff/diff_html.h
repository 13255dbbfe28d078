/* SPDX-License-Identifier: MIT */
/* diff_html.h - the sections of a comparison's page, each written to a stream. diff_html.c puts them together. */
#pragma once

#include "diff_out.h"
#include "diff_tree.h"

#define DIFF_NAME    96	 /* characters of a name */
#define DIFF_CODE    400 /* bytes of a source line */
#define DIFF_SIGHT   20	 /* rows of a table that are not folded */
#define DIFF_MOST    300 /* rows of a table */
#define DIFF_CHANGED 50	 /* functions whose source is shown */

struct diff_page {
	FILE *f;
	const struct diff_report *r;
	struct diff_tree tree;
	int no_tree; /* -ENOENT, -EINVAL: why there is none; 0: there is */
};

/* Each: 0 or -ENOMEM. */
int diff_html_flame(struct diff_page *page);
int diff_html_specialized(struct diff_page *page); /* nothing if nothing was specialised differently */
int diff_html_source(struct diff_page *page);

/* "QUALNAME file:LINE". */
void diff_html_place(FILE *f, const struct diff_item *item);
