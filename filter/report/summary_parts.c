// SPDX-License-Identifier: MIT
/* What several objects have. value_pack() returns NULL if a part is NULL, so memory is checked once. */
#include "summary_parts.h"

#include "base/value.h"
#include "code/origin.h"

struct value *summary_place(const struct code *code)
{
	return value_pack("{s:o, s:o}", "file", value_text(code->file), "qualname", value_text(code->qualname));
}

struct value *summary_counts(const uint64_t counts[OP_COUNT])
{
	struct value *o = value_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op])
			o = value_set(o, sample_op_name(op), value_integer(counts[op]));
	return o;
}

struct value *summary_rates(const struct profile *p, const uint64_t counts[OP_COUNT])
{
	struct value *o = value_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op] && p->traced_ns)
			o = value_set(o, sample_op_name(op), value_real(counts[op] * 1e9 / p->traced_ns));
	return o;
}

struct value *summary_number_or_null(bool known, uint64_t n)
{
	return known ? value_integer(n) : value_null();
}

struct value *summary_cpu_times(bool known, const char *prefix, uint64_t ns, struct off off)
{
	char cpu[32], waiting[32];
	const struct value_number rows[] = { { cpu, ns - off.ns }, { waiting, off.waiting_ns } };

	snprintf(cpu, sizeof(cpu), "%scpu_ns", prefix);
	snprintf(waiting, sizeof(waiting), "%swaiting_ns", prefix);
	if (known)
		return VALUE_NUMBERS(rows);
	return value_pack("{s:n, s:n}", cpu, waiting);
}

struct value *summary_own_and_total(bool known, uint64_t own_ns, struct off own, uint64_t ns, struct off off)
{
	return value_join(summary_cpu_times(known, "self_", own_ns, own), summary_cpu_times(known, "total_", ns, off));
}

struct value *summary_origin(const struct profile *p, const struct code *code)
{
	return value_pack("{s:s}", "origin", origin_key(origin_of(p->codes, code)));
}
