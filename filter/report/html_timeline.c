// SPDX-License-Identifier: MIT
/* The timeline: its data, which the page's script draws (page_timeline.js) with the functions of the flame graph. */
#include <errno.h>
#include <inttypes.h>

#include "html.h"
#include "html_page.h"
#include "pyramid.h"

enum what { BLOCKS, COUNTS, OF, TIMES, MORE, WHATS = MORE + COLUMNS_MORE };

static const char *const names[WHATS] = {
	[BLOCKS] = "blocks",
	[COUNTS] = "counts",
	[OF] = "of",
	[TIMES] = "wall",
	[MORE + COLUMNS_WAITING] = "waiting",
	[MORE + COLUMNS_PREEMPTED] = "preempted",
	[MORE + COLUMNS_CALLS] = "calls",
};

static const char *const pyramids[PYRAMIDS] = { [PYRAMID_PATHS] = "paths", [PYRAMID_FUNCTIONS] = "functions" };

/* Blocks that have something, each as its distance from the one before; and how many entries each has. */
static void write_blocks(FILE *f, const struct pyramid_level *l, enum what what)
{
	int64_t before = -1;

	for (size_t i = 0, next; i < l->n; i = next) {
		for (next = i + 1; next < l->n && l->entries[next].block == l->entries[i].block;)
			next++;
		html_packed(f, what == BLOCKS ? l->entries[i].block - before : (int64_t)(next - i));
		before = l->entries[i].block;
	}
}

static void write_entries(FILE *f, const struct pyramid_level *l, enum what what)
{
	for (size_t i = 0; i < l->n; i++)
		if (what == OF)
			html_packed_signed(f, l->entries[i].of);
		else
			html_packed(f, what == TIMES ? l->entries[i].ns : l->entries[i].more[what - MORE]);
}

static bool is_known(const struct profile *p, enum what what)
{
	return (what != MORE + COLUMNS_WAITING && what != MORE + COLUMNS_PREEMPTED) || profile_has_cpu(p);
}

static void write_level(FILE *f, const struct profile *p, const struct pyramid_level *l)
{
	for (int what = BLOCKS; what < WHATS; what++) {
		if (!is_known(p, what))
			continue;
		fprintf(f, "%s\"%s\":\"", what ? "\",\n" : "{", names[what]);
		(what < OF ? write_blocks : write_entries)(f, l, what);
	}
	fputs("\"}", f);
}

static void write_name(FILE *f, const struct page *page, const struct pyramid *p, const struct pyramid_row *row)
{
	const struct tstate *t = row->of ? &row->of->tstate : NULL;
	const struct process *process = t ? map_get(&page->p->codes->processes, (uint32_t)t->pid) : NULL;
	const char *name = process ? process_thread_name(process, t->tid) : NULL;

	if (!t) {
		fprintf(f, "\"%" PRIu32 " other threads\",\"pid\":0,\"tid\":0", p->others);
		return;
	}
	html_json(f, name ? name : t->pid == t->tid ? "main" : "thread", PAGE_NAME);
	fprintf(f, ",\"pid\":%d,\"tid\":%d", t->pid, t->tid);
}

/* Of each column, in thousandths: [how much, how many columns in a row, ...]. */
static void write_waiting(FILE *f, const struct page *page, const struct pyramid *p, const struct columns_row *waits)
{
	uint32_t per = p->width_ns / page->columns->width_ns, run = 0;
	uint64_t before = 0;

	fputs(",\"waiting\":\"", f);
	for (uint32_t i = 0; i <= p->ncolumns; i++, run++) {
		uint64_t ns = i < p->ncolumns ? columns_sum(page->columns, waits, 1, i * per, per) : 0;
		uint64_t part = (1000 * ns + p->width_ns / 2) / p->width_ns;

		if (run && (part != before || i == p->ncolumns)) {
			html_packed(f, before);
			html_packed(f, run);
			run = 0;
		}
		before = part;
	}
	fputs("\"", f);
}

static void write_levels(FILE *f, const struct page *page, const struct pyramid *p, const struct pyramid_row *row,
			 enum pyramid_of kind)
{
	fprintf(f, ",\"%s\":[\n", pyramids[kind]);
	for (uint32_t i = 0; i < p->nlevels; i++) {
		fputs(i ? ",\n" : "", f);
		write_level(f, page->p, &row->levels[kind][i]);
	}
	fputs("]", f);
}

static void write_row(FILE *f, const struct page *page, const struct pyramid *p, const struct pyramid_row *row)
{
	fputs("{\"name\":", f);
	write_name(f, page, p, row);
	if (profile_has_cpu(page->p) && row->of && row->of->waits)
		write_waiting(f, page, p, row->of->waits);
	write_levels(f, page, p, row, PYRAMID_PATHS);
	write_levels(f, page, p, row, PYRAMID_FUNCTIONS);
	fputs("}", f);
}

static void write_data(FILE *f, struct page *page, const struct pyramid *p)
{
	uint64_t first_ns = page->p->first_ns;

	fprintf(f,
		"<script type=\"application/json\" id=timeline-data>\n"
		"{\"start\":%" PRIu64 ",\"width\":%" PRIu64 ",\"columns\":%" PRIu32 ",\"parts\":[%" PRIu32 ",%" PRIu32
		"],\"of_columns\":%s,\"others\":%" PRIu32 ",\"rows\":[\n",
		p->origin_ns > first_ns ? p->origin_ns - first_ns : 0, p->width_ns, p->ncolumns,
		p->parts[PYRAMID_PATHS], p->parts[PYRAMID_FUNCTIONS], p->of_columns ? "true" : "false", p->others);
	for (uint32_t i = 0; i < p->nrows; i++) {
		fputs(i ? ",\n" : "", f);
		write_row(f, page, p, &p->rows[i]);
	}
	fputs("],\n\"tasks\":[", f);
	page_task_rows(page, p->ncolumns, p->width_ns);
	fputs("]}\n</script>\n", f);
}

int page_timeline(struct page *page)
{
	struct pyramid p;
	int err;

	if (!page->columns->cells.timed)
		return 0;
	err = pyramid_make(&p, page->columns, &page->flame);
	if (err) {
		pyramid_free(&p);
		return err;
	}
	fputs("<section id=timeline>\n<h2>Timeline</h2>\n"
	      "<p class=note data-needs-script>This needs the page's script, which the browser did not run.</p>\n",
	      page->f);
	write_data(page->f, page, &p);
	fputs("</section>\n", page->f);
	pyramid_free(&p);
	return 0;
}
