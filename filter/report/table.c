// SPDX-License-Identifier: MIT
#include "table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/figure.h"
#include "base/text.h"

static const unsigned widths[] = { [COLUMN_SHARE] = 6, [COLUMN_SPAN] = 8, [COLUMN_COUNT] = 7 };

#define COUNT_MOST 999999.5 /* what is larger has a letter */

/* A blank, and the head or the numbers. */
static unsigned width_of(const struct table_column *c)
{
	unsigned head = text_columns(c->head) + 1;

	return head > widths[c->kind] ? head : widths[c->kind];
}

static bool is_shown(const struct report *r, const struct table_column *c)
{
	return r->width >= c->from;
}

/* As wide as it must be; at the end of the line, for the numbers come first in every table. */
static unsigned group_width(const struct report *r, const struct table *t, const struct table_row *rows, size_t n)
{
	size_t width = t->group ? text_columns(t->group) + 2 : 0;
	unsigned wider = r->width > WIDTH_LEAST ? r->width - WIDTH_LEAST : 0;
	unsigned most = (t->group_most ? t->group_most : TABLE_GROUP) + wider / 4;

	for (size_t i = 0; i < n && t->group; i++)
		if (rows[i].group && text_columns(rows[i].group) + 2 > width)
			width = text_columns(rows[i].group) + 2;
	return width < most ? width : most;
}

static void write_group(const struct report *r, const char *group, unsigned width)
{
	size_t used = group ? text_columns(group) : 0;

	if (!width)
		return;
	fputs("  ", r->f);
	if (group)
		text_elided(r->f, group, width - 2);
	for (; used + 2 < width; used++)
		fputc(' ', r->f);
}

static void write_head(const struct report *r, const struct table *t, unsigned group)
{
	fputs(r->c->title, r->f);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(r, &t->columns[i]))
			fprintf(r->f, "%*s", (int)width_of(&t->columns[i]), t->columns[i].head);
	write_group(r, t->group, group);
	fprintf(r->f, "  %s%s\n", t->last, r->c->plain);
}

/* Has a column counts that are too large to be written in full? Then none of them is. */
static bool needs_letters(const struct table_row *rows, size_t n, size_t column)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].of[column] >= COUNT_MOST)
			return true;
	return false;
}

static void write_cell(const struct report *r, const struct table_column *c, double value, bool letters)
{
	enum column_kind kind = c->kind;
	char text[FIGURE] = "-";

	if (!isnan(value) && kind == COLUMN_SHARE)
		snprintf(text, sizeof(text), "%.1f%%", 100 * value);
	else if (!isnan(value) && kind == COLUMN_SPAN)
		figure_span(text, value);
	else if (!isnan(value))
		(letters ? figure_three : figure_brief)(text, value);
	fprintf(r->f, "%*s", (int)width_of(c), text);
}

static unsigned room_of(const struct report *r, const struct table *t, unsigned group)
{
	unsigned used = 2 + group;

	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(r, &t->columns[i]))
			used += width_of(&t->columns[i]);
	return r->width - used;
}

static void write_row(const struct report *r, const struct table *t, const struct table_row *row, const bool *letters,
		      unsigned group)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_shown(r, &t->columns[i]))
			write_cell(r, &t->columns[i], row->of[i], letters[i]);
	write_group(r, row->group, group);
	fputs("  ", r->f);
	if (row->name.code)
		text_plain(r->f, row->name.text);
	else
		text_elided(r->f, row->name.text, room_of(r, t, group));
	fputc('\n', r->f);
}

/* Of those rows that are places. */
static int make_names(struct table_row *rows, struct name *names, size_t n, unsigned room)
{
	size_t places = 0, at = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		if (rows[i].name.code)
			names[places++] = rows[i].name;
	err = names_make(names, places, room);
	for (size_t i = 0; i < n && !err; i++)
		if (rows[i].name.code)
			rows[i].name.text = names[at++].text;
	if (err)
		names_free(names, places);
	return err;
}

int table_write(const struct report *r, const struct table *t, struct table_row *rows, size_t n)
{
	struct name *names = calloc(n + 1, sizeof(*names));
	unsigned group = group_width(r, t, rows, n);
	bool letters[TABLE_COLUMNS];
	int err = names ? make_names(rows, names, n, room_of(r, t, group)) : -ENOMEM;

	if (!err) {
		for (size_t i = 0; i < t->ncolumns; i++)
			letters[i] = needs_letters(rows, n, i);
		write_head(r, t, group);
		for (size_t i = 0; i < n; i++) {
			write_row(r, t, &rows[i], letters, group);
			if (rows[i].name.code)
				free(rows[i].name.text);
		}
	}
	free(names);
	return err;
}
