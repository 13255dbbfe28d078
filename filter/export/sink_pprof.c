// SPDX-License-Identifier: MIT
/*
 * pprof's format (github.com/google/pprof, proto/profile.proto): a sample for each call path, with what its last
 * function cost there: calls, and ns of CPU, wall and waiting. CPU and waiting are left out where they are not known of
 * all threads.
 *
 * A function has one location, its first line. The string table may hold a text twice, so each function brings its two
 * texts along, and everything is written in one pass; the format allows any order.
 *
 * A sample repeats its whole path. Below DEPTH frames, costs are those of a function "...", as in folded stacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proto.h"
#include "base/text.h"
#include "code/origin.h"
#include "model/profile.h"
#include "sink_calls.h"

#define DEPTH 1000 /* Python's own limit of recursion, unless it is raised */

/* Numbers of the fields that are written. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

/* The first texts of the table, by number; the format wants "" first. */
enum {
	TEXT_NONE,
	TEXT_NS,
	TEXT_COUNT,
	TEXT_CALLS,
	TEXT_WALL,
	TEXT_CPU,
	TEXT_WAITING,
	TEXT_PID,
	TEXT_TID,
	TEXT_THREAD,
	TEXT_COROUTINE,
	TEXT_REQUEST,
	TEXT_TASK,
	TEXTS
};
static const char *const texts[TEXTS] = {
	[TEXT_NONE] = "",     [TEXT_NS] = "nanoseconds", [TEXT_COUNT] = "count",	 [TEXT_CALLS] = "calls",
	[TEXT_WALL] = "wall", [TEXT_CPU] = "cpu",	 [TEXT_WAITING] = "waiting",	 [TEXT_PID] = "pid",
	[TEXT_TID] = "tid",   [TEXT_THREAD] = "thread",	 [TEXT_COROUTINE] = "coroutine", [TEXT_REQUEST] = "request",
	[TEXT_TASK] = "task",
};

static const int types[COSTS][2] = {
	[COST_CALLS] = { TEXT_CALLS, TEXT_COUNT },
	[COST_WALL] = { TEXT_WALL, TEXT_NS },
	[COST_CPU] = { TEXT_CPU, TEXT_NS },
	[COST_WAITING] = { TEXT_WAITING, TEXT_NS },
};

struct pprof {
	struct sink_calls *sink;
	const struct call_root *root;
	uint64_t thread; /* text of the root */
	uint64_t ntexts;
	struct map functions;	  /* struct code -> number, 1 at least */
	struct map coroutines;	  /* struct code -> text */
	uint64_t coroutine;	  /* text of the path's outermost one, */
	uint32_t coroutine_depth; /* and its depth; 0: it has none */
	struct group_texts {
		uint64_t request, task;
	} groups[2 * CALL_GROUPS_MOST + 1]; /* 0: none, or not put yet */
	uint32_t group;			    /* in which the current path is */
	uint64_t nfunctions, deeper;	    /* the number of "..."; 0: there is none */
	uint32_t depth;
	int values;
	uint64_t below[COSTS]; /* in the current subtree below DEPTH frames */
	uint64_t path[DEPTH + 1];
};

#define NUMBERS 8 /* of a message at most, without its texts */
#define ROOM	((NUMBERS + 1) * (size_t)(2 * PROTO_VARINT))

/* The number of a new text. */
static uint64_t put_text(struct pprof *w, const char *text)
{
	size_t length = strlen(text);
	char *to = out_reserve(&w->sink->file.out, length + ROOM);

	if (to)
		out_commit(&w->sink->file.out, proto_string(to, PROFILE_STRING, text, length));
	return w->ntexts++;
}

/* What `print` prints, in valid UTF-8 and one line, as the format wants. */
static uint64_t put_plain(struct pprof *w, const char *text)
{
	char *plain = NULL;
	size_t size;
	FILE *f = open_memstream(&plain, &size);
	uint64_t number = 0;

	if (f)
		text_plain(f, text);
	if (f && !fclose(f))
		number = put_text(w, plain);
	free(plain);
	return number;
}

/* Numbers of a message, up to a field 0. */
struct field {
	unsigned field;
	uint64_t number;
};

static char *put_fields(char *to, const struct field *fields)
{
	for (; fields->field; fields++)
		to = fields->number ? proto_number(to, fields->field, fields->number) : to;
	return to;
}

static void put_message(struct pprof *w, unsigned field, const struct field *fields, unsigned inner,
			const struct field *inner_fields)
{
	char *to = out_reserve(&w->sink->file.out, 2 * ROOM), *body, *inside;

	if (!to)
		return;
	body = to = proto_open(to, field);
	to = put_fields(to, fields);
	if (inner) {
		inside = to = proto_open(to, inner);
		to = proto_close(inside, put_fields(to, inner_fields));
	}
	out_commit(&w->sink->file.out, proto_close(body, to));
}

/* Without a system name, which pprof would take for C++ and leave nothing of "<module>". */
static uint64_t put_function(struct pprof *w, uint64_t name, uint64_t file, int64_t line)
{
	uint64_t number = ++w->nfunctions, at = line > 0 ? line : 0;

	put_message(w, PROFILE_FUNCTION,
		    (struct field[]){ { FUNCTION_ID, number },
				      { FUNCTION_NAME, name },
				      { FUNCTION_FILE, file },
				      { FUNCTION_LINE, at },
				      { 0 } },
		    0, NULL);
	put_message(w, PROFILE_LOCATION, (struct field[]){ { LOCATION_ID, number }, { LOCATION_MAPPING, 1 }, { 0 } },
		    LOCATION_LINE, (struct field[]){ { LINE_FUNCTION, number }, { LINE_NUMBER, at }, { 0 } });
	return number;
}

/* 0: no memory. */
static uint64_t place_of(struct pprof *w, struct code *code)
{
	uint64_t number = (uintptr_t)map_get(&w->functions, (uintptr_t)code), name;

	if (number)
		return number;
	name = put_plain(w, code->qualname);
	number = put_function(w, name, code->c ? TEXT_NONE : put_plain(w, code->file), code->firstlineno);
	return map_put(&w->functions, (uintptr_t)code, (void *)(uintptr_t)number) ? 0 : number;
}

static char *put_label(char *to, int key, unsigned field, uint64_t value)
{
	char *body = to = proto_open(to, SAMPLE_LABEL);

	return proto_close(body, proto_number(proto_number(to, LABEL_KEY, key), field, value));
}

/* Its innermost function comes first. */
static void put_sample(struct pprof *w, uint32_t depth, const uint64_t values[COSTS])
{
	char *to = out_reserve(&w->sink->file.out, (depth + COSTS) * (size_t)(2 * PROTO_VARINT) + 7 * ROOM), *body,
	     *list;

	if (!to)
		return;
	body = to = proto_open(to, PROFILE_SAMPLE);
	list = to = proto_open(to, SAMPLE_LOCATIONS);
	while (depth)
		to = proto_varint(to, w->path[--depth]);
	to = proto_close(list, to);
	list = to = proto_open(to, SAMPLE_VALUES);
	for (int i = 0; i < w->values; i++)
		to = proto_varint(to, values[i]);
	to = proto_close(list, to);
	to = put_label(to, TEXT_THREAD, LABEL_TEXT, w->thread);
	to = put_label(to, TEXT_PID, LABEL_NUMBER, w->root->tstate.pid);
	to = put_label(to, TEXT_TID, LABEL_NUMBER, w->root->tstate.tid);
	if (w->coroutine_depth)
		to = put_label(to, TEXT_COROUTINE, LABEL_TEXT, w->coroutine);
	if (w->groups[w->group].request)
		to = put_label(to, TEXT_REQUEST, LABEL_TEXT, w->groups[w->group].request);
	if (w->groups[w->group].task)
		to = put_label(to, TEXT_TASK, LABEL_TEXT, w->groups[w->group].task);
	out_commit(&w->sink->file.out, proto_close(body, to));
}

/* A path's outermost coroutine is a label: all that its tasks did, whatever runs them. 0 or -ENOMEM. */
static int enter_coroutine(struct pprof *w, struct code *code)
{
	if (w->coroutine_depth || !code->coroutine)
		return 0;
	w->coroutine_depth = w->depth;
	w->coroutine = (uintptr_t)map_get(&w->coroutines, (uintptr_t)code);
	if (w->coroutine)
		return 0;
	w->coroutine = put_plain(w, code->qualname);
	return map_put(&w->coroutines, (uintptr_t)code, (void *)(uintptr_t)w->coroutine) ? -ENOMEM : 0;
}

/* What was below DEPTH frames. */
static void put_deeper(struct pprof *w)
{
	if (!w->below[COST_CALLS] && !w->below[COST_WALL])
		return;
	w->deeper = w->deeper ?: put_function(w, put_text(w, "..."), TEXT_NONE, 0);
	w->path[DEPTH] = w->deeper;
	put_sample(w, DEPTH + 1, w->below);
	memset(w->below, 0, sizeof(w->below));
}

/* 0: it has none. */
static uint64_t put_called(struct pprof *w, const struct called *c)
{
	char text[CALLED_TEXT];
	const char *name = called_text(c, text);

	return *name ? put_plain(w, name) : 0;
}

/* Task and request are labels, by their names, of what was called in them. */
static void go_to_group(struct pprof *w, uint32_t group)
{
	const struct call_group *g = group ? &w->sink->groups.all[group - 1] : NULL;
	struct group_texts *texts_of = &w->groups[group];

	put_deeper(w);
	w->group = group;
	if (!g || texts_of->request || texts_of->task)
		return;
	*texts_of = (struct group_texts){ put_called(w, &g->request), put_called(w, &g->task) };
}

static int enter(void *to, uint32_t node)
{
	struct pprof *w = to;
	uint64_t values[COSTS];

	if (!w->sink->tree.nodes[node].code) {
		go_to_group(w, w->sink->tree.nodes[node].group);
		return 0;
	}
	sink_calls_cost(&w->sink->tree, node, values);
	if (w->depth++ >= DEPTH) {
		for (int i = 0; i < COSTS; i++)
			w->below[i] += values[i];
		return 0;
	}
	w->path[w->depth - 1] = place_of(w, w->sink->tree.nodes[node].code);
	if (!w->path[w->depth - 1] || enter_coroutine(w, w->sink->tree.nodes[node].code))
		return -ENOMEM;
	if (values[COST_CALLS] || values[COST_WALL])
		put_sample(w, w->depth, values);
	return 0;
}

static int leave(void *to, uint32_t node)
{
	const struct call_node *nodes = ((struct pprof *)to)->sink->tree.nodes;
	struct pprof *w = to;

	if (!nodes[node].code) {
		go_to_group(w, nodes[nodes[node].parent].group);
		return 0;
	}
	if (w->depth == DEPTH)
		put_deeper(w);
	if (w->depth == w->coroutine_depth)
		w->coroutine_depth = 0;
	w->depth--;
	return 0;
}

static int put_thread(struct pprof *w, const struct profile *p)
{
	char *name = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size);

	if (!f)
		return -ENOMEM;
	sink_calls_thread(f, p, w->root);
	if (!fclose(f))
		w->thread = put_plain(w, name);
	free(name);
	return calltree_walk(&w->sink->tree, w->root->root, enter, leave, w);
}

static void put_head(struct pprof *w, const struct profile *p)
{
	const struct process *root = profile_root(p);
	uint64_t program;

	for (size_t i = 0; i < TEXTS; i++)
		put_text(w, texts[i]);
	w->values = profile_has_cpu(p) ? COSTS : COST_CPU;
	for (int i = 0; i < w->values; i++)
		put_message(w, PROFILE_SAMPLE_TYPE,
			    (struct field[]){ { TYPE_NAME, types[i][0] }, { TYPE_UNIT, types[i][1] }, { 0 } }, 0, NULL);
	program = root && root->argv ? put_plain(w, root->argv) : TEXT_NONE;
	put_message(w, PROFILE_MAPPING,
		    (struct field[]){ { MAPPING_ID, 1 },
				      { MAPPING_FILE, program },
				      { MAPPING_HAS_FUNCTIONS, 1 },
				      { MAPPING_HAS_FILES, 1 },
				      { MAPPING_HAS_LINES, 1 },
				      { 0 } },
		    0, NULL);
}

static void put_times(struct pprof *w, const struct profile *p)
{
	const struct process *root = profile_root(p);
	char *to = out_reserve(&w->sink->file.out, ROOM);

	if (!to)
		return;
	out_commit(&w->sink->file.out,
		   put_fields(to, (struct field[]){ { PROFILE_TIME_NS, root ? root->realtime_ns : 0 },
						    { PROFILE_DURATION_NS, p->end_ns - p->start_ns },
						    { PROFILE_DEFAULT_TYPE, profile_has_cpu(p) ? TEXT_CPU : TEXT_WALL },
						    { 0 } }));
}

static __attribute__((format(printf, 2, 3))) void put_comment(struct pprof *w, const char *format, ...)
{
	char text[128], *to;
	uint64_t number;
	va_list rest;

	va_start(rest, format);
	vsnprintf(text, sizeof(text), format, rest);
	va_end(rest);
	number = put_text(w, text);
	to = out_reserve(&w->sink->file.out, ROOM);
	if (to)
		out_commit(&w->sink->file.out, proto_number(to, PROFILE_COMMENT, number));
}

/* Where there are more names than CALL_GROUPS_MOST. */
static void put_further(struct pprof *w, const char *what, uint64_t calls)
{
	if (calls)
		put_comment(w, "calls and resumptions in further %s, without a label: %" PRIu64, what, calls);
}

static int write_pprof(struct sink_calls *s, const struct profile *p)
{
	struct pprof *w = calloc(1, sizeof(*w));
	size_t n = 0;
	const struct call_root **roots = w ? calltree_roots(&s->tree, &n) : NULL;
	int err = roots ? 0 : -ENOMEM;

	if (w)
		w->sink = s;
	if (!err)
		put_head(w, p);
	for (size_t i = 0; i < n && !err; i++) {
		w->root = roots[i];
		err = put_thread(w, p);
	}
	if (!err) {
		put_times(w, p);
		put_further(w, "requests", s->groups.others);
		put_further(w, "tasks", s->groups.other_tasks);
		if (p->coarse)
			put_comment(w, "times are interpolated: the clock was read for one marker of %" PRIu32,
				    p->coarse);
	}
	free(roots);
	if (w) {
		map_free(&w->functions);
		map_free(&w->coroutines);
	}
	free(w);
	return err;
}

/* Always compressed, whatever its name: the format asks for it. */
int sink_pprof_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_pprof);

	if (!err)
		((struct sink_calls *)*out)->groups.by = CALLS_BY_NAMES;
	if (!err && out_frames(&((struct sink_calls *)*out)->file.out, NULL)) {
		(*out)->ops->free(*out);
		snprintf(error, SINK_ERROR, "no memory for %s", o->path);
		return -ENOMEM;
	}
	return err;
}
