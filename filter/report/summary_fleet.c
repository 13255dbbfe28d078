// SPDX-License-Identifier: MIT
#include "summary_fleet.h"

#include <errno.h>
#include <zlib.h>

#include "base/json.h"
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
static json_t *buckets(const struct stat_sum *s)
{
	json_t *array = json_array();
	struct stat_range r;

	for (unsigned at = 0; s && (at = stat_next_bucket(s, at, &r));)
		array = json_append(array, json_pack("[I, I]", (json_int_t)r.low, (json_int_t)r.n));
	return array;
}

/* Of its instructions, neither of their operands nor of their lines. */
static json_t *hash_of(const struct code *code)
{
	uint32_t hash = crc32_z(0, NULL, 0);

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		const struct instr *in = &code->instrs[i];
		const uint32_t words[] = { in->offset, in->base, (uint32_t)in->target };

		hash = crc32_z(hash, (const Bytef *)words, sizeof(words));
	}
	return code->ninstrs ? json_integer(hash) : json_null();
}

json_t *summary_fleet_function(const struct durations *d, const struct code *code)
{
	return json_pack("{s:o, s:o}", "bytecode", hash_of(code), "durations",
			 buckets(map_get(&d->of, (uintptr_t)code)));
}

json_t *summary_fleet_loop(const struct loop *loop)
{
	const struct json_number times[] = { { "total_ns", loop->time }, { "self_ns", loop->own_time } };

	return json_join(json_pack("{s:o}", "cycles_buckets", buckets(&loop->cycles)), JSON_NUMBERS(times));
}

static json_t *end_of(const struct code *code)
{
	const struct json_number numbers[] = { { "firstlineno", code->c ? 0 : code->firstlineno },
					       { "pid", code->process->pid } };

	return json_join(summary_place(code), JSON_NUMBERS(numbers));
}

/* caller NULL: none. */
static json_t *edge(const struct code *caller, const struct code *callee, const struct call_sum *sum)
{
	const struct json_number numbers[] = {
		{ "calls", sum->calls },
		{ "recursive_calls", sum->recursive },
		{ "self_ns", sum->self_ns },
		{ "total_ns", sum->total_ns },
	};

	return json_join(
		json_pack("{s:o, s:o}", "caller", caller ? end_of(caller) : json_null(), "callee", end_of(callee)),
		JSON_NUMBERS(numbers));
}

json_t *summary_edges(const struct calltree *tree)
{
	struct callers c;
	json_t *array = callers_sum(&c, tree, NULL) ? NULL : json_array();

	for (uint32_t i = 0; i < c.nfunctions; i++)
		if (c.functions[i].uncalled.calls || c.functions[i].uncalled.total_ns)
			array = json_append(array, edge(NULL, c.functions[i].code, &c.functions[i].uncalled));
	for (uint32_t i = 0; i < c.nedges; i++)
		array = json_append(array, edge(c.functions[c.edges[i].caller].code,
						c.functions[c.edges[i].callee].code, &c.edges[i].sum));
	callers_free(&c);
	return array;
}
