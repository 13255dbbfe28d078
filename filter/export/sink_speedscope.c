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

#include "base/hash.h"
#include "base/text.h"
#include "model/profile.h"
#include "sink_calls.h"
#include "shared/array.h"

struct writing {
	struct sink_calls *sink;
	const struct calltree *tree; /* of the profile that is written, */
	bool by_cpu;		     /* and whether it has time on a CPU only */
	struct map frames;	     /* struct code -> number + 1 */
	struct map names;	     /* hash of a function's names -> the same */
	struct code **codes;	     /* [frame] */
	uint32_t nframes, size;
	uint64_t at; /* ns: the end of the open path so far */
	bool any;    /* an event was written: the next needs a comma */
};

struct thread {
	const struct call_root *root;
	size_t number; /* by pid and tid */
	uint64_t ns;   /* on a CPU, or in all */
};

static bool is_same(const struct code *a, const struct code *b)
{
	return a->firstlineno == b->firstlineno && a->label == b->label && !strcmp(a->qualname, b->qualname) &&
	       !strcmp(a->file, b->file);
}

/* The key in w->names where a frame of these names is, or is to be. */
static uint64_t key_of(const struct writing *w, const struct code *code)
{
	uint64_t key = hash_text(hash_text(HASH_START, code->file) ^ code->firstlineno, code->qualname);
	uintptr_t found;

	while ((found = (uintptr_t)map_get(&w->names, key)) && !is_same(w->codes[found - 1], code))
		key++;
	return key;
}

static int add_frame(struct writing *w, uint64_t key, struct code *code)
{
	if (!ARRAY_ROOM(w->codes, w->nframes, w->size) || map_put(&w->names, key, (void *)(uintptr_t)(w->nframes + 1)))
		return -ENOMEM;
	w->codes[w->nframes++] = code;
	return 0;
}

/* A function is one frame, whichever processes have a code object of it. -ENOMEM: no memory. */
static int64_t frame_of(struct writing *w, struct code *code)
{
	uintptr_t found = (uintptr_t)map_get(&w->frames, (uintptr_t)code);
	uint64_t key;

	if (found)
		return found - 1;
	key = key_of(w, code);
	if (!map_get(&w->names, key) && add_frame(w, key, code))
		return -ENOMEM;
	found = (uintptr_t)map_get(&w->names, key);
	return map_put(&w->frames, (uintptr_t)code, (void *)found) ? -ENOMEM : (int64_t)found - 1;
}

static void put_text(struct writing *w, const char *text)
{
	out_put(&w->sink->file.out, text, strlen(text));
}

#define EVENT_ROOM 96

static int put_event(struct writing *w, const char *type, struct code *code)
{
	int64_t frame = frame_of(w, code);
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
	char *name = NULL, *text = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size), *quoted = NULL;

	if (f) {
		sink_calls_thread(f, p, r);
		if (fclose(f))
			name[0] = '\0';
		quoted = open_memstream(&text, &size);
	}
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

	return w->by_cpu && code->label ? CALLTREE_PASS : frame_of(w, code);
}

static int put_merged(struct writing *w, const struct thread *threads, size_t n, bool by_cpu)
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
	for (uint32_t i = 0; i < w->nframes; i++) {
		const struct code *code = w->codes[i];

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

static int by_activity(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns) ?: (a->number > b->number) - (a->number < b->number);
}

/* How long it ran on a CPU, or at all. */
static uint64_t activity(const struct calltree *t, uint32_t root, bool by_cpu)
{
	uint64_t ns = 0, off = 0;

	for (uint32_t i = t->nodes[root].first; i; i = t->nodes[i].next) {
		ns += t->nodes[i].ns;
		off += by_cpu ? t->nodes[i].off.ns : 0;
	}
	return ns > off ? ns - off : 0;
}

/* All threads, the most active first; for free(). NULL: no memory. */
static struct thread *ranked(const struct calltree *t, size_t *n, bool by_cpu)
{
	const struct call_root **roots = calltree_roots(t, n);
	struct thread *threads = roots ? calloc(*n + 1, sizeof(*threads)) : NULL;

	for (size_t i = 0; threads && i < *n; i++)
		threads[i] = (struct thread){ roots[i], i, activity(t, roots[i]->root, by_cpu) };
	if (threads)
		qsort(threads, *n, sizeof(*threads), by_activity);
	free(roots);
	return threads;
}

#define NO_PROFILE \
	"{\"type\":\"evented\",\"name\":\"no event\",\"unit\":\"nanoseconds\"," \
	"\"startValue\":0,\"events\":[],\"endValue\":0}"

/* One thread alone, by wall time, would be the same again. */
static int put_profiles(struct writing *w, const struct profile *p, const struct thread *threads, size_t n)
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
	struct thread *threads = ranked(&w->sink->tree, &n, profile_has_cpu(p));
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

	map_free(&w.frames);
	map_free(&w.names);
	free(w.codes);
	return err;
}

int sink_speedscope_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_speedscope);

	if (!err)
		((struct sink_calls *)*out)->with_spans = true;
	return err;
}
