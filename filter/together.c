// SPDX-License-Identifier: MIT
/* A table of reasons, as only_perf.c has one. */
#include "together.h"

#include <string.h>

typedef bool (*condition)(const struct analysis *a, const struct options *o, const struct pt_config *c);

static bool needs_all(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)c;
	return o->follow || subscribers_need_all(&a->trace.to);
}

/* It begins where the first event of all is, and what is before it is not known of other processes. */
static bool is_part(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)a;
	(void)c;
	return !time_span_is_all(&o->time) || !select_all(&o->select);
}

/* Its table has room for those that came first. */
static bool counts_chains(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)o;
	(void)c;
	return a->chains.length;
}

static bool recovers(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)o;
	(void)c;
	return a->recovers;
}

static bool shares_traces(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)a;
	(void)o;
	return c->per_cpu || c->switches || c->switched;
}

/* Pieces of a trace may be in other records, or repeat what was in the one before. */
static bool has_pieces(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	(void)a;
	(void)o;
	return c->sampled || c->may_overlap || c->packed;
}

static bool is_flight(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	bool flight = a->codes.nsnapshots;

	(void)o;
	(void)c;
	for (struct map_slot *s = NULL; (s = map_next(&a->codes.processes, s));)
		flight |= ((const struct process *)s->value)->flight ||
			  ((const struct process *)s->value)->duty.period_ns;
	return flight;
}

/* Their cycles are the processor's, and which clock is told depends on what else is in the recording. */
static bool counts_cycles(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	bool other = false;

	(void)o;
	for (struct map_slot *s = NULL; (s = map_next(&a->codes.processes, s));) {
		const struct process *p = s->value;

		other |= !p->backend || strcmp(p->backend, "software") != 0;
	}
	return c->cycles && other;
}

static const struct {
	condition holds;
	const char *why;
} reasons[] = {
	{ needs_all, "an output shows single events" },
	{ is_part, "a part of it is asked for" },
	{ counts_chains, "chains of opcodes are asked for" },
	{ recovers, "it is of mode opcodes" },
	{ shares_traces, "a trace has several threads" },
	{ has_pieces, "its traces are in pieces" },
	{ is_flight, "it is of a flight recorder, or has a duty cycle" },
	{ counts_cycles, "not all of it was recorded by software" },
};

const char *together_why(const struct analysis *a, const struct options *o, const struct pt_config *c)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].holds(a, o, c))
			return reasons[i].why;
	return NULL;
}
