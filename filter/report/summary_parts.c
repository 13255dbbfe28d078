// SPDX-License-Identifier: MIT
/* What several objects have. jansson's packing returns NULL if a part is NULL, so memory is checked once. */
#include "summary_parts.h"

#include "base/json.h"
#include "code/origin.h"

json_t *summary_place(const struct code *code)
{
	return json_pack("{s:o, s:o}", "file", json_text(code->file), "qualname", json_text(code->qualname));
}

json_t *summary_counts(const uint64_t counts[OP_COUNT])
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op])
			json_object_set_new(o, sample_op_name(op), json_integer(counts[op]));
	return o;
}

json_t *summary_rates(const struct profile *p, const uint64_t counts[OP_COUNT])
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op] && p->traced_ns)
			json_object_set_new(o, sample_op_name(op), json_real(counts[op] * 1e9 / p->traced_ns));
	return o;
}

json_t *summary_number_or_null(bool known, uint64_t n)
{
	return known ? json_integer(n) : json_null();
}

json_t *summary_cpu_times(bool known, const char *prefix, uint64_t ns, struct off off)
{
	char cpu[32], waiting[32];
	const struct json_number rows[] = { { cpu, ns - off.ns }, { waiting, off.waiting_ns } };

	snprintf(cpu, sizeof(cpu), "%scpu_ns", prefix);
	snprintf(waiting, sizeof(waiting), "%swaiting_ns", prefix);
	if (known)
		return JSON_NUMBERS(rows);
	return json_pack("{s:n, s:n}", cpu, waiting);
}

json_t *summary_own_and_total(bool known, uint64_t own_ns, struct off own, uint64_t ns, struct off off)
{
	return json_join(summary_cpu_times(known, "self_", own_ns, own), summary_cpu_times(known, "total_", ns, off));
}

json_t *summary_origin(const struct profile *p, const struct code *code)
{
	return json_pack("{s:s}", "origin", origin_key(origin_of(p->codes, code)));
}
