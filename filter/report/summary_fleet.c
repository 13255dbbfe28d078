// SPDX-License-Identifier: MIT
#include "summary_fleet.h"

#include <errno.h>
#include <zlib.h>

#include "base/value.h"
#include "code/codes_part.h"
#include "model/callers.h"
#include "summary_parts.h"

static bool is_whole(const struct activation *a, enum leave_how how)
{
	return a->op && how != LEAVE_GAP && how != LEAVE_END;
}

/* Made on first use. NULL: no memory. */
static struct stat_sum *sum_of(struct durations *d, const struct code *code)
{
	struct stat_sum *s = map_get(&d->of, (uintptr_t)code);

	return s ? s : map_add(&d->of, (uintptr_t)code, sizeof(*s));
}

int durations_add(struct durations *d, const struct activation *a, enum leave_how how, uint64_t end_ns)
{
	struct stat_sum *s;

	if (!is_whole(a, how))
		return 0;
	s = sum_of(d, a->code);
	return s ? stat_add(s, end_ns - a->start_ns) : -ENOMEM;
}

int durations_join(struct durations *to, const struct durations *more)
{
	int err = 0;

	for (struct map_slot *m = NULL; !err && (m = map_next(&more->of, m));) {
		const struct code *code = codes_same((const struct code *)(uintptr_t)m->key);
		struct stat_sum *s = code ? sum_of(to, code) : NULL;

		err = s ? stat_join(s, m->value) : -ENOMEM;
	}
	return err;
}

void durations_free(struct durations *d)
{
	for (struct map_slot *s = NULL; (s = map_next(&d->of, s));)
		stat_free(s->value);
	map_free_all(&d->of);
}

/* [[LOW, N], ...] */
static struct value *buckets(const struct stat_sum *s)
{
	struct value *array = value_array();
	struct stat_range r;

	for (unsigned at = 0; s && (at = stat_next_bucket(s, at, &r));)
		array = value_append(array, value_pack("[I, I]", (int64_t)r.low, (int64_t)r.n));
	return array;
}

/* Of its instructions, neither of their operands nor of their lines. */
static struct value *hash_of(const struct code *code)
{
	uint32_t hash = crc32_z(0, NULL, 0);

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		const struct instr *in = &code->instrs[i];
		const uint32_t words[] = { in->offset, in->base, (uint32_t)in->target };

		hash = crc32_z(hash, (const Bytef *)words, sizeof(words));
	}
	return code->ninstrs ? value_integer(hash) : value_null();
}

struct value *summary_fleet_function(const struct durations *d, const struct code *code)
{
	return value_pack("{s:o, s:o}", "bytecode", hash_of(code), "durations",
			  buckets(map_get(&d->of, (uintptr_t)code)));
}

struct value *summary_fleet_loop(const struct loop *loop)
{
	const struct value_number times[] = { { "total_ns", loop->time }, { "self_ns", loop->own_time } };

	return value_join(value_pack("{s:o}", "cycles_buckets", buckets(&loop->cycles)), VALUE_NUMBERS(times));
}

static struct value *end_of(const struct code *code)
{
	const struct value_number numbers[] = { { "firstlineno", code->c ? 0 : code->firstlineno },
						{ "pid", code->process->pid } };

	return value_join(summary_place(code), VALUE_NUMBERS(numbers));
}

/* caller NULL: none. */
static struct value *edge(const struct code *caller, const struct code *callee, const struct call_sum *sum)
{
	const struct value_number numbers[] = {
		{ "calls", sum->calls },
		{ "recursive_calls", sum->recursive },
		{ "self_ns", sum->self_ns },
		{ "total_ns", sum->total_ns },
	};

	return value_join(
		value_pack("{s:o, s:o}", "caller", caller ? end_of(caller) : value_null(), "callee", end_of(callee)),
		VALUE_NUMBERS(numbers));
}

struct value *summary_edges(const struct calltree *tree)
{
	struct callers c;
	struct value *array = callers_sum(&c, tree, NULL) ? NULL : value_array();

	for (uint32_t i = 0; i < c.nfunctions; i++)
		if (c.functions[i].uncalled.calls || c.functions[i].uncalled.total_ns)
			array = value_append(array, edge(NULL, c.functions[i].code, &c.functions[i].uncalled));
	for (uint32_t i = 0; i < c.nedges; i++)
		array = value_append(array, edge(c.functions[c.edges[i].caller].code,
						 c.functions[c.edges[i].callee].code, &c.edges[i].sum));
	callers_free(&c);
	return array;
}
