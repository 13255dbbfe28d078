// SPDX-License-Identifier: MIT
/* Two tables say where a summary keeps the numbers of a loop and of a function. */
#include "diff_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/noise.h"

#define SCHEMA 1 /* of the summary */

struct number_field {
	const char *object, *key; /* object NULL: the item itself */
	size_t offset;
	bool needed;
};

#define NUMBER(object, key, field, needed) \
	{ \
		object, key, offsetof(struct diff_item, field), needed \
	}

#define C_FUNCTIONS "c_functions"

static const struct number_field loop_numbers[] = {
	NUMBER(NULL, "iterations", times, true),
	NUMBER(NULL, "share", share, true),
	NUMBER(NULL, "timed", n, true),
	NUMBER("cycles", "mean", mean, true),
	NUMBER("cycles", "deviation", deviation, true),
	NUMBER("cycles", "median", median, true),
	NUMBER("cycles", "p99", p99, true),
	NUMBER(NULL, "total_cpu_ns", cpu_ns, false),
};

/* The mean and the share of a function are computed: a summary has the sums. */
static const struct number_field function_numbers[] = {
	NUMBER(NULL, "activations", times, true),
	NUMBER(NULL, "activations", n, true),
	NUMBER(NULL, "self_cycles", mean, true),
	NUMBER(NULL, "self_ns", share, true),
	NUMBER(NULL, "self_cycles_deviation", deviation, true),
	NUMBER(NULL, "self_cpu_ns", cpu_ns, false),
};

static const struct {
	const char *array;
	const struct number_field *numbers;
	size_t n;
} kinds[DIFF_KINDS] = {
	[DIFF_LOOPS] = { "loops", loop_numbers, sizeof(loop_numbers) / sizeof(loop_numbers[0]) },
	[DIFF_FUNCTIONS] = { "functions", function_numbers, sizeof(function_numbers) / sizeof(function_numbers[0]) },
};

static const char *string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "?";
}

static int64_t integer(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int diff_item_order(const struct diff_item *a, const struct diff_item *b)
{
	int o = strcmp(a->file, b->file);

	o = o ? o : strcmp(a->qualname, b->qualname);
	o = o ? o : order(a->firstlineno, b->firstlineno);
	o = o ? o : order(a->line, b->line);
	return o ? o : order(a->head, b->head);
}

static int by_place(const void *a, const void *b)
{
	return diff_item_order(a, b);
}

/* The key that the item lacks, or NULL. */
static const char *read_numbers(struct diff_item *item, json_t *o, const struct number_field *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_t *v = json_object_get(f[i].object ? json_object_get(o, f[i].object) : o, f[i].key);

		if (json_is_number(v) && json_number_value(v) >= 0)
			*(double *)((char *)item + f[i].offset) = json_number_value(v);
		else if (f[i].needed)
			return f[i].key;
	}
	return NULL;
}

static const char *read_item(struct diff_item *item, json_t *o, enum diff_kind kind)
{
	*item = (struct diff_item){
		.file = json_object_get(o, "file") ? string(o, "file") : DIFF_C_FILE,
		.qualname = string(o, "qualname"),
		.firstlineno = integer(o, "firstlineno"),
		.line = integer(o, kind == DIFF_LOOPS ? "line" : "firstlineno"),
		.head = integer(o, "head_offset"),
		.median = -1,
		.p99 = -1,
		.cpu_ns = -1,
		.instructions = json_object_get(o, "instructions"),
		.specialization = json_object_get(o, "specialization"),
		.distribution = json_object_get(o, "cycles_distribution"),
		.source = json_object_get(o, "source"),
	};
	return read_numbers(item, o, kinds[kind].numbers, kinds[kind].n);
}

static void finish_function(struct diff_item *item, double traced_ns)
{
	item->wall_ns = item->share;
	item->mean = item->n > 0 ? item->mean / item->n : 0;
	item->share = traced_ns > 0 ? item->share / traced_ns : 0;
}

/* The sum of squared distances from zero that mean and deviation imply. */
static double squares(const struct diff_item *i)
{
	return i->n > 1 ? (i->n - 1) * i->deviation * i->deviation + i->n * i->mean * i->mean
			: i->n * i->mean * i->mean;
}

/* The same place in another process. What cannot be added is that of the larger part. */
static void merge(struct diff_item *to, const struct diff_item *from)
{
	double sum = squares(to) + squares(from), n = to->n + from->n, variance;

	if (from->n > to->n) {
		to->median = from->median;
		to->p99 = from->p99;
		to->instructions = from->instructions;
		to->specialization = from->specialization;
		to->distribution = from->distribution;
		to->source = from->source;
	}
	to->mean = n > 0 ? (to->mean * to->n + from->mean * from->n) / n : 0;
	variance = n > 1 ? (sum - n * to->mean * to->mean) / (n - 1) : 0;
	to->deviation = variance > 0 ? sqrt(variance) : 0;
	to->n = n;
	to->times += from->times;
	to->share += from->share;
	to->wall_ns += from->wall_ns;
	to->cpu_ns = to->cpu_ns < 0 || from->cpu_ns < 0 ? -1 : to->cpu_ns + from->cpu_ns;
}

static size_t merge_all(struct diff_item *items, size_t n)
{
	size_t used = 0;

	qsort(items, n, sizeof(*items), by_place);
	for (size_t i = 0; i < n; i++)
		if (used && !diff_item_order(&items[used - 1], &items[i]))
			merge(&items[used - 1], &items[i]);
		else
			items[used++] = items[i];
	return used;
}

/* Those of an array, from items[kind][*n] on. */
static int read_array(struct diff_side *s, enum diff_kind kind, const char *key, size_t *n, char *error)
{
	json_t *o;
	size_t i;

	json_array_foreach (json_object_get(s->json, key), i, o) {
		struct diff_item *item = &s->items[kind][(*n)++];
		const char *lacks = read_item(item, o, kind);

		if (lacks) {
			snprintf(error, DIFF_ERROR, "%s: its %s have no \"%s\": made by another version of Ocular",
				 s->name, key, lacks);
			return -EINVAL;
		}
		if (kind == DIFF_FUNCTIONS)
			finish_function(item, s->traced_ns);
		else
			item->wall_ns = item->share * s->traced_ns;
	}
	return 0;
}

/* C functions are among the functions, in the file that stands for none. */
static int read_kind(struct diff_side *s, enum diff_kind kind, char *error)
{
	size_t n = 0, c = kind == DIFF_FUNCTIONS ? json_array_size(json_object_get(s->json, C_FUNCTIONS)) : 0;
	int err;

	s->items[kind] = calloc(json_array_size(json_object_get(s->json, kinds[kind].array)) + c + 1,
				sizeof(struct diff_item));
	if (!s->items[kind])
		return -ENOMEM;
	err = read_array(s, kind, kinds[kind].array, &n, error);
	if (!err && c)
		err = read_array(s, kind, C_FUNCTIONS, &n, error);
	if (!err)
		s->n[kind] = merge_all(s->items[kind], n);
	return err;
}

/* The first process with a mode: those that could not be traced have none, and may come first. */
static json_t *traced_process(json_t *processes)
{
	json_t *process;
	size_t i;

	json_array_foreach (processes, i, process)
		if (json_is_string(json_object_get(process, "mode")))
			return process;
	return json_array_get(processes, 0);
}

/* 0 if it is not there, or nothing that was counted. */
static double amount(json_t *o, const char *key)
{
	double n = json_number_value(json_object_get(o, key));

	return n > 0 ? n : 0;
}

static void read_head(struct diff_side *s)
{
	json_t *trace = json_object_get(s->json, "trace"), *clock = json_object_get(s->json, "clock");
	json_t *process = traced_process(json_object_get(s->json, "processes")), *v;
	const char *key;

	s->clock = string(clock, "cycles");
	s->hz = amount(clock, "hz");
	s->coarse = json_integer_value(json_object_get(clock, "coarse"));
	s->traced_ns = amount(trace, "traced_ns");
	v = json_object_get(trace, "waiting_ns"); /* null if CPU time is not known of all threads */
	s->cpu_ns = json_is_number(v) ? json_number_value(json_object_get(trace, "cpu_ns")) : -1;
	if (s->cpu_ns >= 0)
		s->preempted = noise_preempted(s->traced_ns, json_number_value(v), s->cpu_ns);
	s->traced_cycles = amount(trace, "traced_cycles");
	s->mode = string(process, "mode");
	s->c_functions = json_array_size(json_object_get(s->json, C_FUNCTIONS));
	s->python = string(process, "python");
	s->argv = string(process, "argv");
	json_object_foreach (json_object_get(s->json, "losses"), key, v)
		s->losses += json_integer_value(v);
}

/* Neither as large as 2^62, which is 150 years of nanoseconds, nor so small that what is divided by them has no end. */
static bool has_likely_numbers(json_t *v)
{
	double n = fabs(json_number_value(v));
	const char *key;
	json_t *inner;
	size_t i;

	json_array_foreach (v, i, inner)
		if (!has_likely_numbers(inner))
			return false;
	json_object_foreach (v, key, inner)
		if (!has_likely_numbers(inner))
			return false;
	return n == 0 || (n > 0x1p-200 && n < 0x1p62);
}

/* Of what is compared. Others are the program's own, as the values of its counters: any number. */
static bool is_likely(const struct diff_side *s)
{
	static const char *const compared[] = { "clock",     "trace", "events",	   "losses",   "opcodes",
						"functions", "loops", C_FUNCTIONS, "call_tree" };

	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
		if (!has_likely_numbers(json_object_get(s->json, compared[i])))
			return false;
	return true;
}

static int check(const struct diff_side *s, char *error)
{
	json_int_t schema = integer(s->json, "schema");

	if (schema == SCHEMA && json_is_array(json_object_get(s->json, "loops")) &&
	    json_is_array(json_object_get(s->json, "functions"))) {
		snprintf(error, DIFF_ERROR, "%s is damaged: it has a number that no recording can have", s->name);
		return is_likely(s) ? 0 : -EINVAL;
	}
	if (schema > SCHEMA)
		snprintf(error, DIFF_ERROR, "%s is a summary of schema %lld, this Ocular reads %d", s->name,
			 (long long)schema, SCHEMA);
	else
		snprintf(error, DIFF_ERROR, "%s is not a summary that Ocular wrote (ocular report --summary FILE)",
			 s->name);
	return -EINVAL;
}

int diff_read(struct diff_side *s, const char *path, const char *name, char *error)
{
	json_error_t why;
	int err;

	*s = (struct diff_side){ .name = name, .json = json_load_file(path, 0, &why) };
	if (!s->json) {
		snprintf(error, DIFF_ERROR, "cannot read %s as a summary: %s", name, why.text);
		return -EINVAL;
	}
	err = check(s, error);
	if (!err)
		snprintf(error, DIFF_ERROR, "no memory for %s", name);
	if (!err)
		read_head(s);
	for (int kind = 0; kind < DIFF_KINDS && !err; kind++)
		err = read_kind(s, kind, error);
	if (err)
		diff_side_free(s);
	return err;
}

static bool knows_cpu(const struct diff_side *s)
{
	bool knows = s->cpu_ns > 0;

	for (int kind = 0; kind < DIFF_KINDS; kind++)
		for (size_t i = 0; i < s->n[kind] && knows; i++)
			knows = s->items[kind][i].cpu_ns >= 0;
	return knows;
}

/* Those of the core are only counted while a thread is on a CPU. */
static void item_to_cpu(struct diff_item *item, const struct diff_side *s)
{
	double part = item->wall_ns > 0 && strcmp(s->clock, "core") ? item->cpu_ns / item->wall_ns : 1;

	item->wall_mean = item->mean;
	if (part < 1) {
		item->mean *= part;
		item->deviation *= part;
		item->median = item->p99 = -1;
	}
	item->share = item->cpu_ns / s->cpu_ns;
}

bool diff_to_cpu(struct diff_side *a, struct diff_side *b)
{
	struct diff_side *sides[] = { a, b };

	if (!knows_cpu(a) || !knows_cpu(b))
		return false;
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < DIFF_KINDS; kind++)
			for (size_t i = 0; i < sides[side]->n[kind]; i++)
				item_to_cpu(&sides[side]->items[kind][i], sides[side]);
	return true;
}

void diff_side_free(struct diff_side *s)
{
	for (int kind = 0; kind < DIFF_KINDS; kind++)
		free(s->items[kind]);
	json_decref(s->json);
	*s = (struct diff_side){ 0 };
}
