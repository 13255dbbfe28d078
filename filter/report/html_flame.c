// SPDX-License-Identifier: MIT
/*
 * The flame graph: its data, which the page's script draws (flame_*.js). A view is the whole run or one thread;
 * all have the same paths, so that a view is a list of numbers: which path, and each of its own values.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/origin.h"
#include "html.h"
#include "html_flame.h"

static const char *const value_names[FLAME_VALUES] = { "wall", "waiting", "preempted", "calls", "cycles" };

static void choose_values(struct flame_writing *w)
{
	const struct profile *p = w->page->p;

	w->has[FLAME_WALL] = w->has[FLAME_CALLS] = true;
	w->has[FLAME_WAITING] = w->has[FLAME_PREEMPTED] = profile_has_cpu(p);
	w->has[FLAME_CYCLES] = html_cycles(p->clock) != NULL;
}

static void write_file(FILE *f, const struct code *code)
{
	const char *brief = code->c ? "" : origin_path(code);

	fputc('[', f);
	html_json(f, brief, PAGE_NAME);
	if (!code->c && strcmp(brief, code->file)) {
		fputc(',', f);
		html_json(f, code->file, 2 * PAGE_NAME);
	}
	fputc(']', f);
}

/* Files of places next to each other are often the same one. */
static int write_files(struct flame_writing *w, uint32_t *file_of)
{
	FILE *f = w->page->f;
	struct map files = { 0 };
	int err = 0;

	fputs("\"files\":[", f);
	for (uint32_t i = 0, n = 0; i < w->f->nshown_places && !err; i++) {
		const struct code *code = w->f->places[w->f->shown_places[i]].code;
		uint64_t hash = hash_text(HASH_START, code->file);

		file_of[i] = (uintptr_t)map_get(&files, hash);
		if (file_of[i])
			continue;
		file_of[i] = ++n;
		err = map_put(&files, hash, (void *)(uintptr_t)n);
		fputs(n > 1 ? ",\n" : "\n", f);
		write_file(f, code);
	}
	fputs("],\n", f);
	map_free(&files);
	return err;
}

/* Name, number of the file, line, whose it is. */
static int write_places(struct flame_writing *w)
{
	FILE *f = w->page->f;
	uint32_t *file_of = calloc(w->f->nshown_places + 1, sizeof(*file_of));
	int err = file_of ? write_files(w, file_of) : -ENOMEM;

	fputs("\"places\":[", f);
	for (uint32_t i = 0; i < w->f->nshown_places && !err; i++) {
		const struct code *code = w->f->places[w->f->shown_places[i]].code;

		fputs(i ? ",\n[" : "\n[", f);
		html_json(f, code->qualname, PAGE_NAME);
		fprintf(f, ",%" PRIu32 ",%" PRId64 ",\"%s\"]", file_of[i] - 1, code->c ? 0 : code->firstlineno,
			code->c ? "c" : origin_key(origin_of(w->page->p->codes, code)));
	}
	fputs("],\n", f);
	free(file_of);
	return err;
}

/* The caller of each path, and the function; the first one is the whole. */
static void write_paths(const struct flame_writing *w)
{
	const struct flame *f = w->f;

	fputs("\"parents\":\"A", w->page->f);
	for (uint32_t i = 1; i < f->nshown; i++)
		html_packed(w->page->f, f->nodes[f->nodes[f->shown[i]].parent].of);
	fputs("\",\n\"functions\":\"A", w->page->f); /* of the whole: none */
	for (uint32_t i = 1; i < f->nshown; i++)
		html_packed(w->page->f, f->places[f->nodes[f->shown[i]].place].shown - 1);
	fputs("\",\n", w->page->f);
}

static bool is_none(const struct flame_values *v)
{
	for (int i = 0; i < FLAME_VALUES; i++)
		if (v->of[i])
			return false;
	return true;
}

static size_t count_numbers(const struct flame_writing *w, const struct flame_view *v)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->f->nshown; i++)
		n += !is_none(&v->own[i]) + !is_none(&v->cut[i]);
	return n;
}

/* Of each path that has values: one of them, or, if what is -1, its number, ~number for what is cut below it. */
static void write_column(const struct flame_writing *w, const struct flame_view *v, int what)
{
	FILE *f = w->page->f;

	for (uint32_t i = 0; i < w->f->nshown; i++)
		for (int cut = 0; cut < 2; cut++) {
			const struct flame_values *values = cut ? &v->cut[i] : &v->own[i];

			if (is_none(values))
				continue;
			if (what < 0)
				html_packed_signed(f, cut ? ~(int64_t)i : (int64_t)i);
			else
				html_packed(f, values->of[what]);
		}
}

bool flame_view_fits(const struct flame_writing *w, const struct flame_view *v)
{
	return w->numbers + count_numbers(w, v) <= FLAME_NUMBERS;
}

void flame_write_view(struct flame_writing *w, const struct flame_view *v)
{
	fputs("\"paths\":\"", w->page->f);
	write_column(w, v, -1);
	for (int i = 0; i < FLAME_VALUES; i++)
		if (w->has[i]) {
			fprintf(w->page->f, "\",\n\"%s\":\"", value_names[i]);
			write_column(w, v, i);
		}
	fputs("\"}", w->page->f);
	w->numbers += count_numbers(w, v);
}

static int write_whole(struct flame_writing *w, const struct call_root **roots, size_t n)
{
	struct flame_values all = flame_all(w->page->p);
	struct flame_view v = { 0 };
	int err = flame_view_make(&v, w->f);

	for (size_t i = 0; i < n && !err; i++)
		err = flame_view_add(&v, w->f, roots[i]->root);
	if (!err) {
		flame_view_outside(&v, w->f, &all);
		fputs("\"views\":[\n{\"name\":\"whole run\",", w->page->f);
		flame_write_view(w, &v);
	}
	flame_view_free(&v);
	return err;
}

static const struct thread_total *thread_of(const struct profile *p, const struct tstate *t)
{
	for (uint64_t i = 0; i < p->threads; i++)
		if (p->thread_totals[i].pid == t->pid && p->thread_totals[i].tid == t->tid)
			return &p->thread_totals[i];
	return NULL;
}

static void write_thread_name(const struct flame_writing *w, const struct tstate *t)
{
	const struct process *process = codes_process(w->page->p->codes, t->pid);
	const char *name = process ? process_thread_name(process, t->tid) : NULL;

	fputs(",\n{\"name\":", w->page->f);
	html_json(w->page->f, name ? name : t->pid == t->tid ? "main" : "thread", PAGE_NAME);
	fprintf(w->page->f, ",\"pid\":%d,\"tid\":%d,\n", t->pid, t->tid);
}

/* A thread's interpreters are `n` roots next to each other. */
static int write_thread(struct flame_writing *w, const struct call_root **roots, size_t n)
{
	const struct thread_total *total = thread_of(w->page->p, &roots[0]->tstate);
	struct flame_values all = total ? flame_thread(total) : (struct flame_values){ 0 };
	struct flame_view v = { 0 };
	int err = flame_view_make(&v, w->f);

	for (size_t i = 0; i < n && !err; i++)
		err = flame_view_add(&v, w->f, roots[i]->root);
	flame_view_outside(&v, w->f, &all);
	if (!err && !flame_view_fits(w, &v)) {
		w->left_out++;
	} else if (!err) {
		write_thread_name(w, &roots[0]->tstate);
		flame_write_view(w, &v);
	}
	flame_view_free(&v);
	return err;
}

static bool same_thread(const struct call_root *a, const struct call_root *b)
{
	return a->tstate.pid == b->tstate.pid && a->tstate.tid == b->tstate.tid;
}

static int write_threads(struct flame_writing *w, const struct call_root **roots, size_t n)
{
	int err = 0;

	for (size_t i = 0, next; i < n && !err && !same_thread(roots[0], roots[n - 1]); i = next) {
		for (next = i + 1; next < n && same_thread(roots[i], roots[next]);)
			next++;
		err = write_thread(w, &roots[i], next - i);
	}
	fputs("],\n", w->page->f);
	return err;
}

static int write_views(struct flame_writing *w)
{
	size_t n = 0;
	const struct call_root **roots = calltree_roots(w->f->tree, &n);
	int err = roots ? write_whole(w, roots, n) : -ENOMEM;

	err = err ?: write_threads(w, roots, n);
	free(roots);
	return err;
}

static int write_data(struct flame_writing *w)
{
	const char *comma = "";
	int err;

	fputs("<script type=\"application/json\" id=flame-data>\n{\"values\":[", w->page->f);
	for (int i = 0; i < FLAME_VALUES; i++)
		if (w->has[i]) {
			fprintf(w->page->f, "%s\"%s\"", comma, value_names[i]);
			comma = ",";
		}
	fputs("],\n", w->page->f);
	if (w->has[FLAME_CYCLES])
		fprintf(w->page->f, "\"cycles_of\":\"%s\",\n", html_cycles(w->page->p->clock));
	err = write_places(w);
	write_paths(w);
	err = err ?: flame_write_coroutines(w) ?: write_views(w) ?: flame_write_single(w);
	fprintf(w->page->f,
		"\"parts\":%" PRIu32 ",\"paths\":%" PRIu32 ",\"threads_left_out\":%" PRIu32 "}\n</script>\n",
		w->f->parts, w->f->nnodes - 1, w->left_out);
	return err;
}

int page_flame(struct page *page)
{
	struct flame_writing w = { .page = page, .f = &page->flame };
	int err;

	if (page->flame.nnodes < 2)
		return 0;
	choose_values(&w);
	fputs("<section id=flame>\n<h2>Flame graph</h2>\n"
	      "<p class=note data-needs-script>This needs the page's script, which the browser did not run.</p>\n",
	      page->f);
	err = write_data(&w);
	fputs("</section>\n", page->f);
	return err;
}
