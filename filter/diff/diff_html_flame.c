// SPDX-License-Identifier: MIT
/*
 * The differential flame graph: its data, which the page's script draws (page_diff.js). The same as a report's page
 * has, with A's values beside B's under names of their own.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "diff_html.h"
#include "report/html.h"

static bool shows(const struct diff_page *page, int k)
{
	return page->tree.has[k] && (strcmp(diff_value_names[k], "cycles") || html_cycles(page->r->a->clock));
}

/* The last two parts of a file's name, and all of it. */
static void write_file(FILE *f, const char *file)
{
	const char *brief = diff_file(file);

	fputc('[', f);
	html_json(f, strcmp(file, DIFF_C_FILE) ? brief : "", DIFF_NAME);
	if (strcmp(brief, file)) {
		fputc(',', f);
		html_json(f, file, 2 * DIFF_NAME);
	}
	fputc(']', f);
}

static int write_files(struct diff_page *page, uint32_t *file_of)
{
	struct map files = { 0 };
	int err = 0;

	fputs("\"files\":[", page->f);
	for (uint32_t i = 0, n = 0; i < page->tree.nplaces && !err; i++) {
		uint64_t hash = hash_text(HASH_START, page->tree.places[i].file);

		file_of[i] = (uintptr_t)map_get(&files, hash);
		if (file_of[i])
			continue;
		file_of[i] = ++n;
		err = map_put(&files, hash, (void *)(uintptr_t)n);
		fputs(n > 1 ? ",\n" : "\n", page->f);
		write_file(page->f, page->tree.places[i].file);
	}
	fputs("],\n", page->f);
	map_free(&files);
	return err;
}

/* Verdict, change and one standard error of it, both means; null: not among the functions. */
static void write_pair(FILE *f, const struct diff_pair *p)
{
	if (!p) {
		fputs("null", f);
		return;
	}
	fprintf(f, "[\"%s\",%.6g,%.6g", diff_verdict_names[p->verdict], p->change, p->error);
	fprintf(f, ",%.6g,%.6g]", p->a ? p->a->mean : 0, p->b ? p->b->mean : 0);
}

/* Name, number of the file, line, whose it is, and what was judged of it. */
static int write_places(struct diff_page *page)
{
	uint32_t *file_of = calloc(page->tree.nplaces + 1, sizeof(*file_of));
	int err = file_of ? write_files(page, file_of) : -ENOMEM;

	fputs("\"places\":[", page->f);
	for (uint32_t i = 0; i < page->tree.nplaces && !err; i++) {
		const struct diff_place *p = &page->tree.places[i];

		fputs(i ? ",\n[" : "\n[", page->f);
		html_json(page->f, p->qualname, DIFF_NAME);
		fprintf(page->f, ",%" PRIu32 ",%lld,", file_of[i] - 1, (long long)p->firstlineno);
		html_json(page->f, p->origin, DIFF_NAME);
		fputc(',', page->f);
		write_pair(page->f, p->pair);
		fputc(']', page->f);
	}
	fputs("],\n", page->f);
	free(file_of);
	return err;
}

static void write_paths(struct diff_page *page)
{
	const struct diff_tree *t = &page->tree;

	fputs("\"parents\":[0", page->f);
	for (uint32_t i = 1; i < t->npaths; i++)
		fprintf(page->f, ",%" PRIu32, t->paths[i].caller);
	fputs("],\n\"functions\":[-1", page->f);
	for (uint32_t i = 1; i < t->npaths; i++)
		fprintf(page->f, ",%" PRIu32, t->paths[i].place);
	fputs("],\n", page->f);
}

static const struct diff_values *values_of(const struct diff_path *p, int side, int cut)
{
	return cut ? &p->cut[side] : &p->own[side];
}

/* Of each path that has values: one of a side, or, if k is -1, its number, ~number for what is cut below it. */
static void write_column(struct diff_page *page, int side, int k)
{
	const struct diff_tree *t = &page->tree;
	const char *comma = "";

	for (uint32_t i = 0; i < t->npaths; i++)
		for (int cut = 0; cut < 2; cut++) {
			if (!diff_values_any(values_of(&t->paths[i], 0, cut)) &&
			    !diff_values_any(values_of(&t->paths[i], 1, cut)))
				continue;
			if (k < 0)
				fprintf(page->f, "%s%" PRId64, comma, cut ? ~(int64_t)i : (int64_t)i);
			else
				fprintf(page->f, "%s%lld", comma, (long long)values_of(&t->paths[i], side, cut)->of[k]);
			comma = ",";
		}
}

static void write_names(struct diff_page *page)
{
	const char *comma = "";

	fputs("{\"values\":[", page->f);
	for (int side = DIFF_SIDES; side-- > 0;)
		for (int k = 0; k < DIFF_VALUES; k++)
			if (shows(page, k)) {
				fprintf(page->f, "%s\"%s%s\"", comma, side ? "" : "a_", diff_value_names[k]);
				comma = ",";
			}
	fputs("],\n", page->f);
	if (html_cycles(page->r->a->clock))
		fprintf(page->f, "\"cycles_of\":\"%s\",\n", html_cycles(page->r->a->clock));
}

static void write_view(struct diff_page *page)
{
	fputs("\"views\":[{\"name\":\"both\",\n\"paths\":[", page->f);
	write_column(page, 0, -1);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (int k = 0; k < DIFF_VALUES; k++)
			if (shows(page, k)) {
				fprintf(page->f, "],\n\"%s%s\":[", side ? "" : "a_", diff_value_names[k]);
				write_column(page, side, k);
			}
	fputs("]}],\n", page->f);
}

static const char *without_tree(const struct diff_report *r)
{
	return json_object_get(r->a->json, "call_tree") ? r->b->name : r->a->name;
}

static void write_none(struct diff_page *page, int why)
{
	fputs("<p class=note id=no-flame>No flame graph: the call tree is not in ", page->f);
	html_elided(page->f, without_tree(page->r), DIFF_NAME);
	fputs(why == -ENOENT ? ". Give recordings, or summaries made with <code>ocular report --summary FILE --for-diff"
			       "</code>.</p>\n"
			     : " as Ocular writes it.</p>\n",
	      page->f);
}

static int write_data(struct diff_page *page)
{
	int err;

	fputs("<p class=note data-needs-script>This needs the page's script, which the browser did not run.</p>\n"
	      "<script type=\"application/json\" id=diff-data>\n",
	      page->f);
	write_names(page);
	err = write_places(page);
	write_paths(page);
	write_view(page);
	fprintf(page->f, "\"unit\":\"%s\",\"parts\":%lld}\n</script>\n", diff_words[DIFF_FUNCTIONS].unit,
		(long long)page->tree.parts);
	return err;
}

int diff_html_flame(struct diff_page *page)
{
	int err = 0;

	fputs("<section id=flame>\n<h2>Flame graph</h2>\n", page->f);
	if (page->no_tree)
		write_none(page, page->no_tree);
	else
		err = write_data(page);
	fputs("</section>\n", page->f);
	return err;
}
