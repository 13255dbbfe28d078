// SPDX-License-Identifier: MIT
/* The recording as a whole: its time, events and losses, and what was asked of it. */
#include "summary_objects.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/real.h"
#include "base/value.h"
#include "model/losses.h"
#include "summary_parts.h"

struct value *summary_losses(const struct profile *p)
{
	struct loss rows[LOSSES];
	struct value *o = value_object();

	losses_of(p, rows);
	for (int i = 0; i < LOSSES; i++)
		if (i < LOSSES_ALWAYS || rows[i].count)
			o = value_set(o, rows[i].key, value_integer(rows[i].count));
	if (profile_skipped(p))
		o = value_set(o, "skipped", value_integer(profile_skipped(p)));
	return o;
}

struct value *summary_unmatched(const struct profile *p)
{
	struct value *array = value_array();

	for (const struct unmatched *u = NULL; (u = codes_unmatched(p->codes, u));) {
		struct value *nearest = value_array();

		for (char **name = u->nearest; name && *name; name++)
			nearest = value_append(nearest, value_text(*name));
		array = value_append(array, value_pack("{s:o, s:o, s:o}", "option", value_text(u->option), "pattern",
						       value_text(u->pattern), "nearest", nearest));
	}
	return array;
}

struct value *summary_clock(const struct profile *p)
{
	struct value *o = value_pack("{s:s, s:I}", "cycles", p->clock, "hz", (int64_t)p->clock_hz);

	if (o && p->cycles_apart)
		o = value_set(o, "apart", value_integer(p->cycles_apart));
	if (o && p->coarse)
		o = value_set(o, "coarse", value_integer(p->coarse));
	if (o && p->shared_cycles)
		o = value_set(o, "shared", value_integer(p->shared_cycles));
	return o;
}

struct value *summary_trace(const struct profile *p)
{
	const struct value_number rows[] = {
		{ "start_ns", p->start_ns },	 { "end_ns", p->end_ns },
		{ "traced_ns", p->traced_ns },	 { "traced_cycles", p->traced_cycles },
		{ "threads", p->threads },	 { "processes", p->processes },
		{ "outside_ns", p->outside_ns }, { "outside_cycles", p->outside_cycles },
	};

	struct value *cpu = value_pack("{s:o, s:o}", "cpu_ns", summary_number_or_null(!p->untold, p->cpu_ns),
				       "waiting_ns", summary_number_or_null(!p->unseen, p->traced_off.waiting_ns));

	return value_join(VALUE_NUMBERS(rows),
			  value_join(cpu, summary_cpu_times(!p->unseen, "outside_", p->outside_ns, p->outside_off)));
}

struct value *summary_duty(const struct profile *p)
{
	const struct value_number rows[] = {
		{ "windows", p->duty.windows },	    { "window_ns", p->duty.window_ns },
		{ "period_ns", p->duty.period_ns }, { "traced_ns", p->duty.traced_ns },
		{ "lived_ns", p->duty.lived_ns },
	};
	double lived = p->duty.lived_ns;

	if (!p->duty.period_ns)
		return value_null();
	return value_join(VALUE_NUMBERS(rows),
			  value_pack("{s:f}", "share", lived > 0 ? p->duty.traced_ns / lived : 0.0));
}

static struct value *stack(char **places)
{
	struct value *array = value_array();

	for (; places && *places; places++)
		array = value_append(array, value_text(*places));
	return array;
}

/* As the rest is written. */
static struct value *data_of(const struct snapshot *s)
{
	json_t *data = s->data ? json_loads(s->data, 0, NULL) : NULL;
	char *text = data ? json_dumps(data, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;
	struct value *v = !data ? value_object() : text ? value_json(text) : NULL;

	json_decref(data);
	free(text);
	return v;
}

/* clang-format off */
static struct value *snapshot(const struct snapshot *s)
{
	const struct value_number rows[] = {
		{ "number", s->number }, { "from_ns", s->from_ns }, { "at_ns", s->at_ns },
		{ "pid", s->pid },	 { "tid", s->tid },
		{ "threads", s->threads }, { "cut", s->cut },
	};

	return value_join(VALUE_NUMBERS(rows),
			 value_pack("{s:o, s:o, s:o, s:o}",
				   "trigger", value_text(s->trigger),
				   "label", value_text(s->label),
				   "data", data_of(s),
				   "stack", stack(s->stack)));
}
/* clang-format on */

/* The trigger of a flight recorder's snapshot. */
struct value *summary_snapshots(const struct profile *p)
{
	struct value *array = value_array();

	for (size_t i = 0; i < p->codes->nsnapshots; i++)
		array = value_append(array, snapshot(&p->codes->snapshots[i]));
	return array;
}

struct value *summary_events(const struct profile *p)
{
	return summary_counts(p->events);
}

struct value *summary_event_rates(const struct profile *p)
{
	return summary_rates(p, p->events);
}
