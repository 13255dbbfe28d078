// SPDX-License-Identifier: MIT
/* The recording as a whole: its time, events and losses, and what was asked of it. */
#include "summary_objects.h"

#include "base/json.h"
#include "model/losses.h"
#include "summary_parts.h"

json_t *summary_losses(const struct profile *p)
{
	struct loss rows[LOSSES];
	json_t *o = json_object();

	losses_of(p, rows);
	for (int i = 0; i < LOSSES; i++)
		if (i < LOSSES_ALWAYS || rows[i].count)
			json_object_set_new(o, rows[i].key, json_integer(rows[i].count));
	if (profile_skipped(p))
		json_object_set_new(o, "skipped", json_integer(profile_skipped(p)));
	return o;
}

json_t *summary_unmatched(const struct profile *p)
{
	json_t *array = json_array();

	for (const struct unmatched *u = NULL; (u = codes_unmatched(p->codes, u));) {
		json_t *nearest = json_array();

		for (char **name = u->nearest; name && *name; name++)
			json_array_append_new(nearest, json_text(*name));
		json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "option", json_text(u->option), "pattern",
						       json_text(u->pattern), "nearest", nearest));
	}
	return array;
}

json_t *summary_clock(const struct profile *p)
{
	json_t *o = json_pack("{s:s, s:I}", "cycles", p->clock, "hz", (json_int_t)p->clock_hz);

	if (o && p->cycles_apart)
		json_object_set_new(o, "apart", json_integer(p->cycles_apart));
	if (o && p->coarse)
		json_object_set_new(o, "coarse", json_integer(p->coarse));
	if (o && p->shared_cycles)
		json_object_set_new(o, "shared", json_integer(p->shared_cycles));
	return o;
}

json_t *summary_trace(const struct profile *p)
{
	const struct json_number rows[] = {
		{ "start_ns", p->start_ns },	 { "end_ns", p->end_ns },
		{ "traced_ns", p->traced_ns },	 { "traced_cycles", p->traced_cycles },
		{ "threads", p->threads },	 { "processes", p->processes },
		{ "outside_ns", p->outside_ns }, { "outside_cycles", p->outside_cycles },
	};

	json_t *cpu = json_pack("{s:o, s:o}", "cpu_ns", summary_number_or_null(!p->untold, p->cpu_ns), "waiting_ns",
				summary_number_or_null(!p->unseen, p->traced_off.waiting_ns));

	return json_join(JSON_NUMBERS(rows),
			 json_join(cpu, summary_cpu_times(!p->unseen, "outside_", p->outside_ns, p->outside_off)));
}

json_t *summary_duty(const struct profile *p)
{
	const struct json_number rows[] = {
		{ "windows", p->duty.windows },	    { "window_ns", p->duty.window_ns },
		{ "period_ns", p->duty.period_ns }, { "traced_ns", p->duty.traced_ns },
		{ "lived_ns", p->duty.lived_ns },
	};
	double lived = p->duty.lived_ns;

	if (!p->duty.period_ns)
		return json_null();
	return json_join(JSON_NUMBERS(rows), json_pack("{s:f}", "share", lived > 0 ? p->duty.traced_ns / lived : 0.0));
}

static json_t *stack(char **places)
{
	json_t *array = json_array();

	for (; places && *places; places++)
		json_array_append_new(array, json_text(*places));
	return array;
}

/* clang-format off */
static json_t *snapshot(const struct snapshot *s)
{
	const struct json_number rows[] = {
		{ "number", s->number }, { "from_ns", s->from_ns }, { "at_ns", s->at_ns },
		{ "pid", s->pid },	 { "tid", s->tid },
		{ "threads", s->threads }, { "cut", s->cut },
	};
	json_t *data = s->data ? json_loads(s->data, 0, NULL) : NULL;

	return json_join(JSON_NUMBERS(rows),
			 json_pack("{s:o, s:o, s:o, s:o}",
				   "trigger", json_text(s->trigger),
				   "label", json_text(s->label),
				   "data", data ? data : json_object(),
				   "stack", stack(s->stack)));
}
/* clang-format on */

/* The trigger of a flight recorder's snapshot. */
json_t *summary_snapshots(const struct profile *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->codes->nsnapshots; i++)
		array = json_append(array, snapshot(&p->codes->snapshots[i]));
	return array;
}

json_t *summary_events(const struct profile *p)
{
	return summary_counts(p->events);
}

json_t *summary_event_rates(const struct profile *p)
{
	return summary_rates(p, p->events);
}
