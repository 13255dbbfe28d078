// SPDX-License-Identifier: MIT
#include "profile_join.h"

#include <errno.h>

#include "code/codes_part.h"
#include "shared/array.h"

/* --- what cannot be joined ----------------------------------------------------------------------------------- */

/*
 * Tasks and requests are numbered in the order in which they appear in any process, and the newest of all are kept.
 * Jobs and steps are for these alone.
 */
static uint64_t subjects(const struct profile *p)
{
	const struct requests *r = &p->requests;

	return p->tasks.told + p->tasks.totals.used + r->begun + r->open.used + r->names.used;
}

/* What follows what is a list in the order of appearance; forms have buckets of the recording's time. */
static uint64_t instructions(const struct profile *p)
{
	return p->events[OP_INSTRUCTION];
}

/* Rows are kept of the first ones of all processes. */
static uint64_t greenlets(const struct profile *p)
{
	return p->greenlets.count;
}

/* Snapshots are of all processes. */
static uint64_t snapshots(const struct profile *p)
{
	return p->events[OP_SNAPSHOT];
}

/* Then the order of time is not that in which words come. */
static uint64_t backwards(const struct profile *p)
{
	return p->backwards;
}

static const struct {
	uint64_t (*has)(const struct profile *p);
	const char *why;
} unjoinable[] = {
	{ subjects, "it has tasks or requests" }, { instructions, "it has single instructions" },
	{ greenlets, "it has greenlets" },	  { snapshots, "it is of a flight recorder" },
	{ backwards, "its times run backwards" },
};

const char *profile_unjoinable(const struct profile *p)
{
	for (size_t i = 0; i < sizeof(unjoinable) / sizeof(unjoinable[0]); i++)
		if (unjoinable[i].has(p))
			return unjoinable[i].why;
	return NULL;
}

/* --- what can ------------------------------------------------------------------------------------------------ */

/* Of one process, in whatever interpreter. */
static int join_functions(const struct process *p)
{
	int err = 0;

	for (; p && !err; p = p->before)
		for (const struct code *code = p->ran; code && !err; code = code->ran_before) {
			struct code *same = codes_same(code);

			err = same ? function_join(same, code) : -ENOMEM;
		}
	return err;
}

/* Those that were lent have theirs already. */
static int join_all_functions(const struct codes *part)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&part->processes, s));)
		if (((const struct process *)s->value)->of)
			err = join_functions(s->value);
	return err;
}

static void join_times(struct profile *to, const struct profile *more)
{
	to->traced_ns += more->traced_ns;
	to->traced_cycles += more->traced_cycles;
	to->outside_ns += more->outside_ns;
	to->outside_cycles += more->outside_cycles;
	off_add(&to->traced_off, more->traced_off);
	off_add(&to->outside_off, more->outside_off);
	waits_join(&to->outside_waits, &more->outside_waits);
	waits_join(&to->all_waits, &more->all_waits);
	waits_join(&to->idle_waits, &more->idle_waits);
	to->cpu_ns += more->cpu_ns;
}

static void join_counts(struct profile *to, const struct profile *more)
{
	for (int op = 0; op < OP_COUNT; op++)
		to->events[op] += more->events[op];
	to->gaps += more->gaps;
	to->lost_markers += more->lost_markers;
	to->foreign += more->foreign;
	to->unmatched += more->unmatched;
	to->mismatches += more->mismatches;
	to->samples += more->samples;
	to->outside_samples += more->outside_samples;
	to->known_kinds += more->known_kinds;
	to->unseen += more->unseen;
	to->untold += more->untold;
}

static int join_threads(struct profile *to, const struct profile *more)
{
	if (!ARRAY_RESIZE(to->thread_totals, to->threads + more->threads + 1))
		return -ENOMEM;
	for (uint64_t i = 0; i < more->threads; i++)
		to->thread_totals[to->threads++] = more->thread_totals[i];
	return 0;
}

int profile_join(struct profile *to, const struct profile *part)
{
	int err = profile_unjoinable(part) || profile_unjoinable(to) ? -EAGAIN : join_threads(to, part);

	if (err)
		return err;
	join_counts(to, part);
	join_times(to, part);
	collections_join(&to->collections, &part->collections);
	err = join_all_functions(part->codes) ?: imports_join(&to->imports, &part->imports);
	err = err ?: exceptions_join(&to->exceptions, &part->exceptions);
	return err ?: locks_join(&to->locks, &part->locks) ?: spans_join(&to->spans, &part->spans);
}
