// SPDX-License-Identifier: MIT
/*
 * Folded stacks, for flamegraph.pl and similar tools: "a;b;c NUMBER" for each call path, where the number is the self
 * time of c there in ns. The threads of a process are added up; with several processes, each has a bottom frame.
 *
 * A line repeats the whole path, so deep recursion would write the square of its depth: below DEPTH frames, time is
 * shown as that of a frame "...".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/rendered.h"
#include "model/profile.h"
#include "sink_calls.h"
#include "base/text.h"
#include "code/origin.h"
#include "shared/array.h"

#define DEPTH 1000 /* Python's own limit of recursion, unless it is raised */

struct folding {
	struct out *out;
	const struct calltree *tree;
	struct map names; /* struct code -> struct rendered */
	char *path;	  /* of the node that the walk is in */
	size_t length, size;
	size_t ends[DEPTH]; /* [depth] length of the path before it */
	uint32_t depth;
	uint64_t below_ns; /* in the current subtree below DEPTH frames */
};

/* One frame: ';' only between frames, no line end. */
static void render_name(FILE *f, const void *of)
{
	const struct code *code = of;
	char *text = NULL;
	size_t size;
	FILE *m = open_memstream(&text, &size);

	if (m) {
		text_plain(m, code->qualname);
		if (!code->c && !code->label) {
			fputs(" (", m);
			text_plain(m, origin_path(code));
			fprintf(m, ":%" PRId64 ")", code->firstlineno);
		}
	}
	if (m && !fclose(m))
		for (const char *c = text; *c; c++)
			fputc(*c == ';' ? ',' : *c, f);
	free(text);
}

static int append(struct folding *f, const char *text, size_t length)
{
	if (f->size - f->length < length + 1) {
		size_t size = 2 * f->size + length + 1;

		if (!ARRAY_RESIZE(f->path, size))
			return -ENOMEM;
		f->size = size;
	}
	if (f->length)
		f->path[f->length++] = ';';
	memcpy(f->path + f->length, text, length);
	f->length += length;
	return 0;
}

static void put_line(struct folding *f, const char *more, uint64_t ns)
{
	char *to = ns ? out_reserve(f->out, f->length + strlen(more) + OUT_DIGITS + 2) : NULL;

	if (!to)
		return;
	to = mempcpy(to, f->path, f->length);
	to = stpcpy(to, more);
	*to++ = ' ';
	to = out_dec(to, ns);
	*to++ = '\n';
	out_commit(f->out, to);
}

static int enter(void *to, uint32_t node)
{
	struct folding *f = to;
	const struct call_node *n = &f->tree->nodes[node];
	const struct rendered *name;

	if (f->depth++ >= DEPTH) {
		f->below_ns += n->self_ns;
		return 0;
	}
	name = rendered_get(&f->names, n->code, render_name);
	f->ends[f->depth - 1] = f->length;
	if (!name || append(f, name->text, name->length))
		return -ENOMEM;
	put_line(f, "", n->self_ns);
	return 0;
}

static int leave(void *to, uint32_t node)
{
	struct folding *f = to;

	(void)node;
	if (f->depth-- > DEPTH)
		return 0;
	put_line(f, ";...", f->below_ns);
	f->below_ns = 0;
	f->length = f->ends[f->depth];
	return 0;
}

/* The bottom frame of a process, if there are several. */
static int append_process(struct folding *f, const struct profile *p, int32_t pid)
{
	char name[32];

	f->length = 0;
	if (p->processes < 2)
		return 0;
	return append(f, name, snprintf(name, sizeof(name), "process %d", pid));
}

static int write_collapsed(struct sink_calls *s, const struct profile *p)
{
	struct folding *f = calloc(1, sizeof(*f));
	size_t n = 0;
	const struct call_root **roots = f ? calltree_roots(&s->tree, &n) : NULL;
	int err = roots ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		f->out = &s->file.out;
		f->tree = &s->tree;
		err = append_process(f, p, roots[i]->tstate.pid);
		err = err ?: calltree_walk(&s->tree, roots[i]->root, enter, leave, f);
	}
	free(roots);
	if (f) {
		rendered_free_all(&f->names);
		free(f->path);
	}
	free(f);
	return err;
}

int sink_collapsed_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_collapsed);

	if (err)
		return err;
	(*out)->by_process = true;
	((struct sink_calls *)*out)->tree.by_process = ((struct sink_calls *)*out)->with_spans = true;
	return 0;
}
