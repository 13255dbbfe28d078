// SPDX-License-Identifier: MIT
/*
 * The Firefox Profiler's processed profile (github.com/firefox-devtools/profiler, src/types/profile.ts): first all
 * threads together, once by each cost, then each thread by wall time, the most active first.
 *
 * A sample is a call path, with what its last function cost there as its weight. Paths lie side by side on the time
 * axis, as in speedscope's file, each as wide as its weight. Wall time is divided into up to three samples of
 * subcategories of their own, where it is known when threads were on a CPU. docs/exports.md says why.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "firefox_json.h"
#include "firefox_tables.h"
#include "model/losses.h"
#include "model/profile.h"
#include "shared/array.h"
#include "sink_calls.h"

/* The newest one that is described; viewers read older ones than their own. */
#define VERSION	      "70"
#define GECKO_VERSION "36" /* of what Firefox itself would have recorded */

/* As many threads are shown at first, beside all together; the others can be chosen. */
#define SHOWN 10

static const struct measure {
	const char *name, *type;
	enum call_cost cost;
	enum firefox_state state;
	unsigned width; /* ns on the time axis, of 1 */
	bool cpu_known; /* only then */
} measures[] = {
	{ "time on a CPU, all threads", "tracing-ms", COST_CPU, FIREFOX_ON_CPU, 1, true },
	{ "wall time, all threads", "tracing-ms", COST_WALL, FIREFOX_ANY, 1, false },
	{ "waiting, all threads", "tracing-ms", COST_WAITING, FIREFOX_WAITING, 1, true },
	{ "calls, all threads", "samples", COST_CALLS, FIREFOX_ANY, 1000, false },
};

#define MEASURES (sizeof(measures) / sizeof(*measures))
#define WALL	 (&measures[1])

struct row {
	uint32_t stack;
	uint64_t value, cpu_ns;
};

struct costs_of_path {
	uint64_t values[COSTS];
};

struct writing {
	struct sink_calls *sink;
	struct out *out;
	const struct profile *profile;
	bool by_cpu;
	struct firefox_tables tables;
	uint32_t *stack_of;	       /* [node] */
	struct costs_of_path *of_path; /* [stack] of all threads */
	uint32_t npaths, of_path_size;
	const struct measure *measure; /* of the rows: */
	struct row *rows;
	size_t nrows, rows_size;
	uint32_t written; /* threads */
};

/* --- call paths ---------------------------------------------------------------------------------------------- */

static int add_costs(struct writing *w, uint32_t stack, const uint64_t values[COSTS])
{
	uint32_t before = w->of_path_size;

	if (!ARRAY_ROOM(w->of_path, stack, w->of_path_size))
		return -ENOMEM;
	for (uint32_t i = before; i < w->of_path_size; i++)
		w->of_path[i] = (struct costs_of_path){ 0 };
	for (int i = 0; i < COSTS; i++)
		w->of_path[stack].values[i] += values[i];
	return 0;
}

static int find_path(void *to, uint32_t node)
{
	struct writing *w = to;
	const struct call_node *n = &w->sink->tree.nodes[node];
	uint64_t values[COSTS];
	int64_t stack = firefox_stack(&w->tables, w->stack_of[n->parent], n->code, FIREFOX_ANY);

	if (stack < 0)
		return stack;
	w->stack_of[node] = stack;
	sink_calls_cost(&w->sink->tree, node, values);
	return add_costs(w, stack, values);
}

/* Each path's stack, and what all threads together took there. */
static int find_paths(struct writing *w, const struct call_thread *threads, size_t n)
{
	int err = 0;

	w->stack_of = calloc((size_t)w->sink->tree.nnodes + 1, sizeof(*w->stack_of));
	if (!w->stack_of)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		w->stack_of[threads[i].root->root] = STACKS_NONE;
		err = calltree_walk(&w->sink->tree, threads[i].root->root, find_path, NULL, w);
	}
	w->npaths = w->tables.stacks.n;
	return err;
}

/* --- samples ------------------------------------------------------------------------------------------------- */

static int add_row(struct writing *w, uint32_t stack, enum firefox_state state, uint64_t value)
{
	int64_t in = value ? firefox_stack_in(&w->tables, stack, state) : 0;

	if (!value)
		return 0;
	if (in < 0 || !ARRAY_ROOM(w->rows, w->nrows, w->rows_size))
		return -ENOMEM;
	w->rows[w->nrows++] = (struct row){ in, value, state == FIREFOX_ON_CPU ? value : 0 };
	return 0;
}

/* The parts add up to the wall time, whatever they are. */
static int add_parts(struct writing *w, uint32_t stack, const uint64_t values[COSTS])
{
	uint64_t off = values[COST_WALL] - values[COST_CPU];
	uint64_t waiting = values[COST_WAITING] < off ? values[COST_WAITING] : off;
	int err = add_row(w, stack, FIREFOX_ON_CPU, values[COST_CPU]);

	err = err ?: add_row(w, stack, FIREFOX_WAITING, waiting);
	return err ?: add_row(w, stack, FIREFOX_READY, off - waiting);
}

static int add_path(struct writing *w, uint32_t stack, const uint64_t values[COSTS])
{
	if (w->measure == WALL && w->by_cpu)
		return add_parts(w, stack, values);
	return add_row(w, stack, w->measure->state, values[w->measure->cost]);
}

static int add_node(void *to, uint32_t node)
{
	struct writing *w = to;
	uint64_t values[COSTS];

	sink_calls_cost(&w->sink->tree, node, values);
	return add_path(w, w->stack_of[node], values);
}

static void put_stack(struct out *out, const void *of, uint32_t row)
{
	const struct writing *w = of;

	if (row < w->nrows)
		firefox_put_number(out, w->rows[row].stack);
	else
		firefox_put(out, "null");
}

/* From the sample before. */
static void put_delta(struct out *out, const void *of, uint32_t row)
{
	const struct writing *w = of;

	firefox_put_ms(out, row ? w->rows[row - 1].value * w->measure->width : 0);
}

static void put_value(struct out *out, const void *of, uint32_t row)
{
	const struct writing *w = of;

	(w->measure->cost == COST_CALLS ? firefox_put_number : firefox_put_ms)(out,
									       row < w->nrows ? w->rows[row].value : 0);
}

/* Since the sample before, too. */
static void put_cpu(struct out *out, const void *of, uint32_t row)
{
	const struct writing *w = of;

	firefox_put_number(out, row ? w->rows[row - 1].cpu_ns : 0);
}

/* The last sample has no stack and no weight: where the one before it ends. */
static void put_samples(struct writing *w)
{
	const struct firefox_column columns[] = {
		{ .name = "stack", .cell = put_stack },
		{ .name = "timeDeltas", .cell = put_delta },
		{ .name = "weight", .cell = put_value },
		{ .name = w->measure == WALL && w->by_cpu ? "threadCPUDelta" : NULL, .cell = put_cpu },
		{ 0 },
	};

	firefox_put(w->out, ",\n\"samples\":{\"weightType\":");
	firefox_put_text(w->out, w->measure->type);
	firefox_put(w->out, ",");
	firefox_put_columns(w->out, w->nrows + 1, columns, w);
	firefox_put(w->out, "}");
	w->nrows = 0;
}

/* --- threads ------------------------------------------------------------------------------------------------- */

#define NO_TIMES \
	"\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0," \
	"\"unregisterTime\":null,\"pausedRanges\":[]"
#define NO_MARKERS \
	"\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":" \
	"[]}"

/* `id` is JSON: its pid and tid. */
static void put_thread(struct writing *w, const char *name, const char *id, const char *process, bool is_main)
{
	firefox_put(w->out, w->written++ ? ",\n{" NO_TIMES ",\"name\":" : "\n{" NO_TIMES ",\"name\":");
	firefox_put_text(w->out, name);
	firefox_put(w->out, is_main ? ",\"isMainThread\":true," : ",\"isMainThread\":false,");
	firefox_put(w->out, id);
	if (process) {
		firefox_put(w->out, ",\"processName\":");
		firefox_put_text(w->out, process);
	}
	put_samples(w);
	firefox_put(w->out, ",\n" NO_MARKERS "}");
}

/* All threads together, by w->measure. */
static int put_merged(struct writing *w)
{
	char id[64];
	int err = 0;

	for (uint32_t i = 0; i < w->npaths && !err; i++)
		err = add_path(w, i, w->of_path[i].values);
	snprintf(id, sizeof(id), "\"pid\":\"all\",\"tid\":\"all %u\"", w->written);
	put_thread(w, w->measure->name, id, "all threads", !w->written);
	return err;
}

static void print_id(char *id, size_t size, const struct tstate *t)
{
	if (t->interpreter)
		snprintf(id, size, "\"pid\":\"%d\",\"tid\":\"%d, interpreter %" PRIu32 "\"", t->pid, t->tid,
			 t->interpreter);
	else
		snprintf(id, size, "\"pid\":\"%d\",\"tid\":%d", t->pid, t->tid);
}

/* One, by wall time. */
static int put_one(struct writing *w, const struct call_root *r)
{
	const struct process *process = codes_process(w->profile->codes, r->tstate.pid);
	char *name = sink_calls_thread_name(w->profile, r), id[96];
	int err;

	if (!name)
		return -ENOMEM;
	print_id(id, sizeof(id), &r->tstate);
	err = calltree_walk(&w->sink->tree, r->root, add_node, NULL, w);
	put_thread(w, name, id, process ? process->program.name : NULL,
		   r->tstate.pid == r->tstate.tid && !r->tstate.interpreter);
	free(name);
	return err;
}

static int put_threads(struct writing *w, const struct call_thread *threads, size_t n)
{
	int err = 0;

	firefox_put(w->out, "\"threads\":[");
	for (size_t i = 0; i < MEASURES && !err; i++) {
		w->measure = &measures[i];
		if (w->by_cpu || !w->measure->cpu_known)
			err = put_merged(w);
	}
	w->measure = WALL;
	for (size_t i = 0; i < n && !err; i++)
		err = put_one(w, threads[i].root);
	firefox_put(w->out, "],\n\"shared\":");
	return err;
}

/* --- about the recording --------------------------------------------------------------------------------------- */

static void put_entry(struct writing *w, const char *before, const char *label, const char *value, uint64_t count)
{
	firefox_put(w->out, before);
	firefox_put(w->out, "{\"label\":");
	firefox_put_text(w->out, label);
	firefox_put(w->out, value ? ",\"format\":\"string\",\"value\":" : ",\"format\":\"integer\",\"value\":");
	if (value)
		firefox_put_text(w->out, value);
	else
		firefox_put_number(w->out, count);
	firefox_put(w->out, "}");
}

static void put_losses(struct writing *w)
{
	struct loss rows[LOSSES];
	unsigned n = losses_of(w->profile, rows);

	for (int i = 0; i < LOSSES; i++)
		if (rows[i].count)
			put_entry(w, ",\n", rows[i].what, NULL, rows[i].count);
	if (!n)
		put_entry(w, ",\n", "Losses", "none", 0);
}

/* What a reader must know: the viewer shows it under "Profile info". */
static void put_extra(struct writing *w)
{
	firefox_put(w->out, ",\n\"extra\":[{\"label\":\"Ocular\",\"entries\":[\n");
	put_entry(w, "", "Time axis", "call paths side by side, each as wide as its weight; not when they ran", 0);
	if (!w->by_cpu)
		put_entry(w, ",\n", "Time on a CPU", "not known of all threads", 0);
	put_losses(w);
	firefox_put(w->out, "]}]");
}

static void put_numbers(struct writing *w, const char *name, uint32_t n)
{
	firefox_put(w->out, name);
	for (uint32_t i = 0; i < n; i++) {
		firefox_put(w->out, i ? "," : "");
		firefox_put_number(w->out, i);
	}
	firefox_put(w->out, "]");
}

static void put_meta(struct writing *w, size_t n)
{
	const struct process *root = profile_root(w->profile);
	uint32_t merged = w->by_cpu ? MEASURES : MEASURES - 2;

	firefox_put(w->out, "{\"meta\":{\"version\":" GECKO_VERSION ",\"preprocessedProfileVersion\":" VERSION
			    ",\"importedFrom\":\"Ocular\",\"product\":");
	firefox_put_text(w->out, root && root->program.name ? root->program.name : "Python");
	firefox_put(w->out, ",\"arguments\":");
	firefox_put_text(w->out, root && root->argv ? root->argv : "");
	firefox_put(w->out, ",\"startTime\":");
	firefox_put_ms(w->out, root && root->realtime_ns > 0 ? root->realtime_ns : 0);
	firefox_put(w->out, ",\"interval\":0.001,\"processType\":0,\"stackwalk\":1,\"debug\":false,"
			    "\"symbolicated\":true,\"symbolicationNotSupported\":true,"
			    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
			    "\"keepProfileThreadOrder\":true,\"markerSchema\":[],\"sampleUnits\":"
			    "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
			    "\"initialSelectedThreads\":[0]");
	put_numbers(w, ",\"initialVisibleThreads\":[", merged + (n < SHOWN ? n : SHOWN));
	firefox_put(w->out, ",\n\"categories\":");
	firefox_put_categories(w->out);
	put_extra(w);
	firefox_put(w->out, "},\n\"libs\":[],");
}

static int put_all(struct writing *w)
{
	size_t n = 0;
	struct call_thread *threads = sink_calls_ranked(&w->sink->tree, &n, w->by_cpu);
	int err = threads ? find_paths(w, threads, n) : -ENOMEM;

	if (!err) {
		put_meta(w, n);
		err = put_threads(w, threads, n);
	}
	err = err ?: firefox_put_tables(&w->tables, w->out);
	firefox_put(w->out, "}\n");
	free(threads);
	return err;
}

static int write_firefox(struct sink_calls *s, const struct profile *p)
{
	struct writing w = { .sink = s, .out = &s->file.out, .profile = p, .by_cpu = profile_has_cpu(p) };
	int err;

	w.tables.codes = p->codes;
	err = put_all(&w);
	firefox_tables_free(&w.tables);
	free(w.stack_of);
	free(w.of_path);
	free(w.rows);
	return err;
}

int sink_firefox_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_calls_open(out, o, error, write_firefox);
}
