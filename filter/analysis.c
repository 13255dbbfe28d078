// SPDX-License-Identifier: MIT
/* Opens the parts in the order of the data flow, and finds the one that failed. */
#include "analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int analysis_open_codes(struct analysis *a, const char *dir, bool grows)
{
	int err;

	*a = (struct analysis){ 0 };
	err = codes_init(&a->codes, dir);
	if (err)
		return analysis_fail(a, err);
	a->codes.grows = grows;
	a->recovers = codes_have_dispatch(&a->codes);
	return 0;
}

int analysis_open_sinks(struct analysis *a, const struct options *o)
{
	struct sink *sinks;
	struct wall wall;
	int err = options_sinks(o, &sinks, a->error);

	if (err) {
		codes_free(&a->codes);
		return err;
	}
	trace_init(&a->trace, &a->codes, sinks);
	a->trace.profile.requests.wanted = o->request;
	a->chains.length = o->opcodes.chains;
	a->trace.profile.chains = a->chains.length ? &a->chains : NULL;
	recover_init(&a->recover, &a->codes, trace_feed, &a->trace);
	wall = codes_wall(&a->codes);
	trace_window(&a->trace, &o->time, &wall);
	trace_select(&a->trace, &o->select);
	trace_processes(&a->trace, o->processes);
	if (a->recovers)
		decode_init(&a->decoder, &a->codes, recover_sample, NULL, &a->recover);
	else
		decode_init(&a->decoder, &a->codes, trace_feed, &trace_quick_feed, &a->trace);
	return 0;
}

int analysis_open(struct analysis *a, const struct options *o, const char *dir)
{
	return analysis_open_codes(a, dir, false) ?: analysis_open_sinks(a, o);
}

int analysis_open_part(struct analysis **part, struct analysis *all, const struct options *o,
		       const struct codes_parts *parts, unsigned number)
{
	struct analysis *a = *part = calloc(1, sizeof(*a));
	int err = a ? codes_lend(&all->codes, &a->codes, parts, number) : -ENOMEM;
	struct sink *sinks;

	if (!a)
		return err;
	err = subscribers_parts(&all->trace.to, &sinks) ?: err;
	trace_init(&a->trace, &a->codes, sinks);
	trace_window(&a->trace, &o->time, &all->trace.wall);
	recover_init(&a->recover, &a->codes, trace_feed, &a->trace);
	decode_init(&a->decoder, &a->codes, trace_feed, &trace_quick_feed, &a->trace);
	a->next = all->next;
	all->next = a;
	a->trace.next = all->trace.next;
	all->trace.next = &a->trace;
	return err;
}

int analysis_feed(void *analysis, const struct sample *s)
{
	struct analysis *a = analysis;

	return a->decoder.feed(a->decoder.to, s);
}

void analysis_heard(struct analysis *a)
{
	subscribers_heard(&a->trace.to);
}

int analysis_fail(struct analysis *a, int err)
{
	const char *why = a->decoder.error[0] ? a->decoder.error : a->trace.error[0] ? a->trace.error : a->codes.error;

	for (struct sink *k = a->trace.to.sinks; k; k = k->next)
		if (k->error[0])
			why = k->error;
	if (!a->error[0])
		snprintf(a->error, sizeof(a->error), "%s", why[0] ? why : strerror(-err));
	return err;
}

static int give_back(struct analysis *a, struct analysis *part)
{
	a->decoder.words += part->decoder.words;
	return codes_give_back(&a->codes, &part->codes);
}

int analysis_finish(struct analysis *a, bool counted)
{
	int err = decode_finish(&a->decoder);

	for (struct analysis *part = a->next; part && !err; part = part->next)
		err = decode_finish(&part->decoder) ?: give_back(a, part);
	if (!err && a->recovers)
		err = recover_finish(&a->recover);
	err = err ?: trace_finish(&a->trace, counted);
	return err ? analysis_fail(a, err) : 0;
}

bool analysis_is_foreign(const struct analysis *a)
{
	for (struct map_slot *s = NULL; (s = map_next(&a->codes.processes, s));)
		if (((const struct process *)s->value)->received)
			return false;
	return a->decoder.words > 0;
}

static void close_part(struct analysis *a, struct analysis *part)
{
	decode_free(&part->decoder);
	recover_free(&part->recover);
	trace_free(&part->trace);
	codes_part_free(&a->codes, &part->codes);
	free(part);
}

void analysis_close(struct analysis *a)
{
	for (struct analysis *part = a->next, *next; part; part = next) {
		next = part->next;
		close_part(a, part);
	}
	decode_free(&a->decoder);
	recover_free(&a->recover);
	trace_free(&a->trace);
	chains_free(&a->chains);
	codes_free(&a->codes);
}
