// SPDX-License-Identifier: MIT
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): one profile of all threads, by their
 * time on a CPU where that is known, then one for each thread, the most active first. Each has each call path once, as
 * long as all calls along it. So its left-heavy and sandwich views mean what they always do; the order in time is that
 * of first appearance; for a timeline speedscope can open the Perfetto trace.
 *
 * Of its two kinds of profiles this is the "evented" one: a "sampled" one would repeat the whole stack for each path,
 * the square of the depth in deep recursion.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/profile.h"
#include "places.h"
#include "sink_calls.h"

struct writing {
	struct sink_calls *sink;
	const struct calltree *tree; /* of the profile that is written, */
	bool by_cpu;		     /* and whether it has time on a CPU only */
	struct places frames;
	uint64_t at; /* ns: the end of the open path so far */
	bool any;    /* an event was written: the next needs a comma */
};

static void put_text(struct writing *w, const char *text)
{
	out_put(&w->sink->file.out, text, strlen(text));
}

#define EVENT_ROOM 96

static int put_event(struct writing *w, const char *type, struct code *code)
{
	int64_t frame = places_number(&w->frames, code);
	char *to = frame < 0 ? NULL : out_reserve(&w->sink->file.out, EVENT_ROOM);

	if (!to)
		return -ENOMEM;
	to = stpcpy(to, w->any ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	to = stpcpy(to, type);
	to = stpcpy(to, "\",\"frame\":");
	to = out_dec(to, frame);
	to = stpcpy(to, ",\"at\":");
	to = out_dec(to, w->at);
	*to++ = '}';
	out_commit(&w->sink->file.out, to);
	w->any = true;
	return 0;
}

/* How wide a path is shown by itself. */
static uint64_t own_width(const struct writing *w, uint32_t node)
{
	uint64_t ns = w->tree->nodes[node].self_ns, off = w->by_cpu ? calltree_self_off(w->tree, node).ns : 0;

	return ns > off ? ns - off : 0;
}

static int enter(void *to, uint32_t node)
{
	struct writing *w = to;
	int err = put_event(w, "O", w->tree->nodes[node].code);

	w->at += own_width(w, node);
	return err;
}

static int leave(void *to, uint32_t node)
{
	struct writing *w = to;

	return put_event(w, "C", w->tree->nodes[node].code);
}

/* A thread's name, as a JSON string. 0 or -ENOMEM. */
static int put_thread(struct writing *w, const struct profile *p, const struct call_root *r)
{
	char *name = sink_calls_thread_name(p, r), *text = NULL;
	size_t size;
	FILE *quoted = name ? open_memstream(&text, &size) : NULL;

	if (quoted) {
		text_json(quoted, name);
		fclose(quoted);
		put_text(w, text);
	}
	free(name);
	free(text);
	return quoted ? 0 : -ENOMEM;
}

/* Behind its name. */
static int put_tree(struct writing *w, const struct calltree *tree, uint32_t root)
{
	char number[OUT_DIGITS + 1] = "";
	int err;

	put_text(w, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
	w->tree = tree;
	w->at = 0;
	w->any = false;
	err = calltree_walk(tree, root, enter, leave, w);
	put_text(w, "],\"endValue\":");
	*out_dec(number, w->at) = '\0';
	put_text(w, number);
	put_text(w, "}");
	return err;
}

#define PROFILE_NAME "\n{\"type\":\"evented\",\"name\":"

/* For calltree_merge(): by frames. When a span was off a CPU is not known apart from its function. */
static int64_t number_of(void *of, struct code *code)
{
	struct writing *w = of;

	return w->by_cpu && code->label ? CALLTREE_PASS : places_number(&w->frames, code);
}

static int put_merged(struct writing *w, const struct call_thread *threads, size_t n, bool by_cpu)
{
	struct calltree merged = { 0 };
	uint32_t root = CALLTREE_NONE;
	int err = 0;

	w->by_cpu = by_cpu;
	for (size_t i = 0; i < n && !err; i++)
		err = calltree_merge(&merged, &root, &w->sink->tree, threads[i].root->root, number_of, w);
	put_text(w, by_cpu ? PROFILE_NAME "\"all threads: time on a CPU\"" : PROFILE_NAME "\"all threads: wall time\"");
	err = err ?: put_tree(w, &merged, root);
	calltree_free(&merged);
	w->by_cpu = false;
	return err;
}

static int print_frames(FILE *f, const struct writing *w)
{
	for (uint32_t i = 0; i < w->frames.n; i++) {
		const struct code *code = w->frames.codes[i];

		fprintf(f, "%s\n{\"name\":", i ? "," : "");
		text_json(f, code->qualname);
		if (!code->label) {
			fputs(",\"file\":", f);
			text_json(f, code->file);
		}
		if (code->firstlineno > 0)
			fprintf(f, ",\"line\":%" PRId64, code->firstlineno);
		fputc('}', f);
	}
	return fclose(f) ? -ENOMEM : 0;
}

static int put_frames(struct writing *w)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err = f ? print_frames(f, w) : -ENOMEM;

	if (!err)
		out_put(&w->sink->file.out, text, size);
	free(text);
	return err;
}

#define NO_PROFILE \
	"{\"type\":\"evented\",\"name\":\"no event\",\"unit\":\"nanoseconds\"," \
	"\"startValue\":0,\"events\":[],\"endValue\":0}"

/* One thread alone, by wall time, would be the same again. */
static int put_profiles(struct writing *w, const struct profile *p, const struct call_thread *threads, size_t n)
{
	bool by_cpu = profile_has_cpu(p), merged = n > 1 || (n && by_cpu);
	int err = merged ? put_merged(w, threads, n, by_cpu) : 0;

	for (size_t i = 0; i < n && !err; i++) {
		put_text(w, i || merged ? "," PROFILE_NAME : PROFILE_NAME);
		err = put_thread(w, p, threads[i].root);
		err = err ?: put_tree(w, &w->sink->tree, threads[i].root->root);
	}
	if (!n) /* speedscope opens nothing without a profile */
		put_text(w, NO_PROFILE);
	return err;
}

static int put_all(struct writing *w, const struct profile *p)
{
	size_t n = 0;
	struct call_thread *threads = sink_calls_ranked(&w->sink->tree, &n, profile_has_cpu(p));
	int err = threads ? 0 : -ENOMEM;

	put_text(w, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"Ocular\",\"activeProfileIndex\":0,\"profiles\":[");
	err = err ?: put_profiles(w, p, threads, n);
	put_text(w, "],\"shared\":{\"frames\":[");
	err = err ?: put_frames(w);
	put_text(w, "]}}\n");
	free(threads);
	return err;
}

static int write_speedscope(struct sink_calls *s, const struct profile *p)
{
	struct writing w = { .sink = s };
	int err = put_all(&w, p);

	places_free(&w.frames);
	return err;
}

int sink_speedscope_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_speedscope);

	if (!err)
		((struct sink_calls *)*out)->with_spans = true;
	return err;
}
