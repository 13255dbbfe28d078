// SPDX-License-Identifier: MIT
/*
 * OpenTelemetry's profiles signal, a message ProfilesData (opentelemetry-proto 1.11.0, profiles/v1development): a
 * resource for each process, in it a profile for each of pprof's values, whose samples are the call paths of its
 * threads. Functions and stacks of all processes are in one dictionary.
 *
 * As in pprof's file a stack repeats its whole path: below DEPTH frames, costs are those of a function "...".
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "message.h"
#include "model/losses.h"
#include "model/profile.h"
#include "places.h"
#include "shared/array.h"
#include "sink_calls.h"
#include "stacks.h"
#include "texts.h"

#define DEPTH 1000 /* Python's own limit of recursion, unless it is raised */

/* Numbers of the fields that are written. */
enum {
	DATA_RESOURCE = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_RESOURCE = 1,
	RESOURCE_SCOPE = 2,
	ATTRIBUTES_OF_RESOURCE = 1,
	SCOPE_SCOPE = 1,
	SCOPE_PROFILES = 2,
	SCOPE_NAME = 1,
	ATTRIBUTES_OF_SCOPE = 3,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_LINK = 3,
	SAMPLE_VALUES = 4,
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_TEXTS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7,
	LINK_TRACE = 1,
	LINK_SPAN = 2,
	STACK_LOCATIONS = 1,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_FILE = 3,
	FUNCTION_LINE = 4,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_TEXT = 1,
	ANY_NUMBER = 3,
};

/* In the order in which they are written: viewers show the first one. */
static const struct {
	enum call_cost cost;
	const char *name, *unit;
	bool cpu_known; /* only then */
} types[] = {
	{ COST_CPU, "cpu", "nanoseconds", true },
	{ COST_WALL, "wall", "nanoseconds", false },
	{ COST_WAITING, "waiting", "nanoseconds", true },
	{ COST_CALLS, "calls", "count", false },
};

/* Every table's first row is an empty one. Then, of attributes: whose frames these are. */
enum { PYTHON_FRAME = 1, NATIVE_FRAME, THREAD_ATTRIBUTES };

struct row {
	uint32_t stack;
	size_t thread;
	uint32_t link; /* 0: none */
	uint64_t values[COSTS];
};

struct writing {
	struct sink_calls *sink;
	const struct profile *profile;
	bool by_cpu;
	struct message message;
	struct places functions;
	struct stacks stacks; /* frames are functions */
	struct texts texts;
	char **names; /* [thread] */
	size_t nthreads;
	uint32_t *stack_of; /* [node] */
	uint32_t depth;
	struct row *rows; /* of a process */
	size_t nrows, rows_size;
	struct map row_of; /* stack and link -> row + 1; of a thread */
};

static struct code deeper = { .qualname = "...", .file = "", .c = true };

static uint64_t text(struct writing *w, const char *of)
{
	int64_t n = texts_number(&w->texts, of);

	w->message.no_memory |= n < 0;
	return n < 0 ? 0 : n;
}

static void put_valid(struct message *m, unsigned field, const char *of)
{
	char *valid = text_utf8(of);

	m->no_memory |= !valid;
	if (valid)
		message_text(m, field, valid);
	free(valid);
}

/* --- samples ------------------------------------------------------------------------------------------------- */

static int64_t stack_at(struct writing *w, uint32_t caller, struct code *code)
{
	int64_t function;

	if (w->depth > DEPTH + 1)
		return caller;
	function = places_number(&w->functions, w->depth > DEPTH ? &deeper : code);
	return function < 0 ? function : stacks_number(&w->stacks, caller, function);
}

/* What is deeper is one path; and so is what a request called within another one of the same link. */
static int add_row(struct writing *w, uint32_t stack, uint32_t link, const uint64_t values[COSTS])
{
	uint64_t key = map_pair(stack, link);
	size_t row = (uintptr_t)map_get(&w->row_of, key);

	if (!row) {
		if (!ARRAY_ROOM(w->rows, w->nrows, w->rows_size))
			return -ENOMEM;
		w->rows[w->nrows++] = (struct row){ .stack = stack, .thread = w->nthreads, .link = link };
		row = w->nrows;
		if (map_put(&w->row_of, key, (void *)(uintptr_t)row))
			return -ENOMEM;
	}
	for (int i = 0; i < COSTS; i++)
		w->rows[row - 1].values[i] += values[i];
	return 0;
}

static int enter(void *to, uint32_t node)
{
	struct writing *w = to;
	const struct call_node *n = &w->sink->tree.nodes[node];
	uint64_t values[COSTS];
	int64_t stack;

	if (!n->code) {
		w->stack_of[node] = w->stack_of[n->parent];
		return 0;
	}
	w->depth++;
	stack = stack_at(w, w->stack_of[n->parent], n->code);
	if (stack < 0)
		return stack;
	w->stack_of[node] = stack;
	sink_calls_cost(&w->sink->tree, node, values);
	return add_row(w, stack, n->group, values);
}

static int leave(void *to, uint32_t node)
{
	struct writing *w = to;

	w->depth -= w->sink->tree.nodes[node].code != NULL;
	return 0;
}

static int add_thread(struct writing *w, const struct call_root *r)
{
	char *name = sink_calls_thread_name(w->profile, r);
	int err;

	if (!name)
		return -ENOMEM;
	w->names[w->nthreads] = name;
	w->stack_of[r->root] = STACKS_NONE;
	err = calltree_walk(&w->sink->tree, r->root, enter, leave, w);
	w->nthreads++;
	map_free(&w->row_of);
	return err;
}

/* --- profiles -------------------------------------------------------------------------------------------------- */

static void put_sample(struct message *m, const struct row *row, uint64_t value)
{
	size_t sample = message_open(m, PROFILE_SAMPLES), list;

	message_number(m, SAMPLE_STACK, row->stack + 1);
	list = message_open(m, SAMPLE_ATTRIBUTES);
	message_element(m, THREAD_ATTRIBUTES + row->thread);
	message_close(m, list);
	if (row->link)
		message_number(m, SAMPLE_LINK, row->link);
	list = message_open(m, SAMPLE_VALUES);
	message_element(m, value);
	message_close(m, list);
	message_close(m, sample);
}

static void put_profile(struct writing *w, const struct process *process, size_t type)
{
	struct message *m = &w->message;
	size_t at = message_open(m, SCOPE_PROFILES), inner = message_open(m, PROFILE_TYPE);

	message_number(m, TYPE_NAME, text(w, types[type].name));
	message_number(m, TYPE_UNIT, text(w, types[type].unit));
	message_close(m, inner);
	for (size_t i = 0; i < w->nrows; i++)
		if (w->rows[i].values[types[type].cost])
			put_sample(m, &w->rows[i], w->rows[i].values[types[type].cost]);
	if (process && process->realtime_ns > 0)
		message_fixed64(m, PROFILE_TIME, process->realtime_ns);
	message_number(m, PROFILE_DURATION, w->profile->end_ns - w->profile->start_ns);
	message_close(m, at);
}

/* A KeyValue; `value` NULL: `number`. */
static void put_attribute(struct message *m, unsigned field, const char *key, const char *value, uint64_t number)
{
	size_t at = message_open(m, field), inner;

	put_valid(m, KEY_VALUE_KEY, key);
	inner = message_open(m, KEY_VALUE_VALUE);
	if (value)
		put_valid(m, ANY_TEXT, value);
	else
		message_number(m, ANY_NUMBER, number);
	message_close(m, inner);
	message_close(m, at);
}

/* Who wrote this, and what the recording lacks. */
static void put_scope(struct writing *w)
{
	struct message *m = &w->message;
	struct loss rows[LOSSES];
	size_t at = message_open(m, SCOPE_SCOPE);
	char key[64];

	message_text(m, SCOPE_NAME, "ocular");
	losses_of(w->profile, rows);
	for (int i = 0; i < LOSSES; i++) {
		snprintf(key, sizeof(key), "ocular.losses.%s", rows[i].key);
		if (rows[i].count)
			put_attribute(m, ATTRIBUTES_OF_SCOPE, key, NULL, rows[i].count);
	}
	if (w->sink->groups.others)
		put_attribute(m, ATTRIBUTES_OF_SCOPE, "ocular.unlinked_calls", NULL, w->sink->groups.others);
	if (w->profile->coarse) /* the time was read for one marker of so many */
		put_attribute(m, ATTRIBUTES_OF_SCOPE, "ocular.clock.coarse", NULL, w->profile->coarse);
	message_close(m, at);
}

static void put_resource(struct writing *w, int32_t pid, const struct process *process)
{
	struct message *m = &w->message;
	size_t at = message_open(m, RESOURCE_RESOURCE);
	const char *name = process ? process->program.name : NULL;

	put_attribute(m, ATTRIBUTES_OF_RESOURCE, "service.name", name ? name : "unknown_service:python", 0);
	put_attribute(m, ATTRIBUTES_OF_RESOURCE, "process.pid", NULL, pid);
	if (process && process->argv)
		put_attribute(m, ATTRIBUTES_OF_RESOURCE, "process.command_line", process->argv, 0);
	message_close(m, at);
}

static int flush(struct writing *w)
{
	int err = w->message.no_memory ? -ENOMEM : 0;

	if (!err)
		out_put(&w->sink->file.out, w->message.bytes, w->message.n);
	message_free(&w->message);
	return err;
}

static int put_process(struct writing *w, int32_t pid)
{
	const struct process *process = codes_process(w->profile->codes, pid);
	size_t at = message_open(&w->message, DATA_RESOURCE), scope;

	put_resource(w, pid, process);
	scope = message_open(&w->message, RESOURCE_SCOPE);
	put_scope(w);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (w->by_cpu || !types[i].cpu_known)
			put_profile(w, process, i);
	message_close(&w->message, scope);
	message_close(&w->message, at);
	w->nrows = 0;
	return flush(w);
}

/* --- dictionary ---------------------------------------------------------------------------------------------- */

static void put_empty(struct message *m, unsigned field)
{
	message_close(m, message_open(m, field));
}

static void put_function(struct writing *w, struct code *code)
{
	struct message *m = &w->message;
	size_t at = message_open(m, DICTIONARY_FUNCTIONS);

	message_number(m, FUNCTION_NAME, text(w, code->qualname));
	message_number(m, FUNCTION_FILE, code->c ? 0 : text(w, code->file));
	message_number(m, FUNCTION_LINE, code->firstlineno > 0 ? code->firstlineno : 0);
	message_close(m, at);
}

/* Each function has one, with its number. */
static void put_location(struct writing *w, uint32_t function)
{
	const struct code *code = w->functions.codes[function];
	struct message *m = &w->message;
	size_t at = message_open(m, DICTIONARY_LOCATIONS), inner = message_open(m, LOCATION_LINES);

	message_number(m, LINE_FUNCTION, function + 1);
	message_number(m, LINE_LINE, code->firstlineno > 0 ? code->firstlineno : 0);
	message_close(m, inner);
	if (code != &deeper) {
		inner = message_open(m, LOCATION_ATTRIBUTES);
		message_element(m, code->c ? NATIVE_FRAME : PYTHON_FRAME);
		message_close(m, inner);
	}
	message_close(m, at);
}

/* The innermost function comes first. */
static void put_stack(struct writing *w, uint32_t stack)
{
	size_t at = message_open(&w->message, DICTIONARY_STACKS), list = message_open(&w->message, STACK_LOCATIONS);

	for (; stack != STACKS_NONE; stack = w->stacks.of[stack].caller)
		message_element(&w->message, w->stacks.of[stack].frame + 1);
	message_close(&w->message, list);
	message_close(&w->message, at);
}

/* Pieces have their high bits first, and so have both numbers. */
static void put_pieces(struct message *m, unsigned field, const uint32_t *pieces, size_t n)
{
	uint32_t bytes[MARKER_TRACE_PIECES];

	for (size_t i = 0; i < n; i++)
		bytes[i] = htobe32(pieces[i]);
	message_bytes(m, field, bytes, n * sizeof(*bytes));
}

static void put_link(struct message *m, const struct traced *of)
{
	size_t at = message_open(m, DICTIONARY_LINKS);

	put_pieces(m, LINK_TRACE, of->pieces, MARKER_TRACE_PIECES);
	put_pieces(m, LINK_SPAN, of->pieces + MARKER_TRACE_PIECES, MARKER_SPAN_PIECES);
	message_close(m, at);
}

/* A KeyValueAndUnit, without a unit. */
static void put_text_attribute(struct writing *w, const char *key, const char *value)
{
	struct message *m = &w->message;
	size_t at = message_open(m, DICTIONARY_ATTRIBUTES), inner;

	message_number(m, KEY_VALUE_KEY, text(w, key));
	inner = message_open(m, KEY_VALUE_VALUE);
	put_valid(m, ANY_TEXT, value);
	message_close(m, inner);
	message_close(m, at);
}

static int put_dictionary(struct writing *w)
{
	struct message *m = &w->message;
	size_t at = message_open(m, DATA_DICTIONARY);

	for (unsigned field = DICTIONARY_MAPPINGS; field <= DICTIONARY_STACKS; field++)
		if (field != DICTIONARY_TEXTS)
			put_empty(m, field);
	for (uint32_t i = 0; i < w->functions.n; i++) {
		put_function(w, w->functions.codes[i]);
		put_location(w, i);
	}
	for (uint32_t i = 0; i < w->stacks.n; i++)
		put_stack(w, i);
	for (uint32_t i = 0; i < w->sink->groups.n; i++)
		put_link(m, &w->sink->groups.all[i].traced);
	put_text_attribute(w, "profile.frame.type", "cpython");
	put_text_attribute(w, "profile.frame.type", "native");
	for (size_t i = 0; i < w->nthreads; i++)
		put_text_attribute(w, "thread.name", w->names[i]);
	for (uint32_t i = 0; i < w->texts.n; i++)
		put_valid(m, DICTIONARY_TEXTS, w->texts.of[i]);
	message_close(m, at);
	return flush(w);
}

static int put_all(struct writing *w, const struct call_root **roots, size_t n)
{
	int err;

	w->names = calloc(n + 1, sizeof(*w->names));
	w->stack_of = calloc((size_t)w->sink->tree.nnodes + 1, sizeof(*w->stack_of));
	err = w->names && w->stack_of ? 0 : -ENOMEM;
	text(w, ""); /* the first one */
	for (size_t i = 0; i < n && !err; i++) {
		err = add_thread(w, roots[i]);
		if (!err && (i + 1 == n || roots[i + 1]->tstate.pid != roots[i]->tstate.pid))
			err = put_process(w, roots[i]->tstate.pid);
	}
	return err ?: put_dictionary(w);
}

static int write_otlp(struct sink_calls *s, const struct profile *p)
{
	struct writing w = { .sink = s, .profile = p, .by_cpu = profile_has_cpu(p) };
	size_t n = 0;
	const struct call_root **roots = calltree_roots(&s->tree, &n);
	int err = roots ? put_all(&w, roots, n) : -ENOMEM;

	for (size_t i = 0; i < w.nthreads; i++)
		free(w.names[i]);
	free(w.names);
	free(w.stack_of);
	free(w.rows);
	message_free(&w.message);
	map_free(&w.row_of);
	places_free(&w.functions);
	stacks_free(&w.stacks);
	texts_free(&w.texts);
	free(roots);
	return err;
}

int sink_otlp_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_otlp);

	if (!err)
		((struct sink_calls *)*out)->groups.by = CALLS_BY_SPAN;
	return err;
}
