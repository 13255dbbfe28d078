// SPDX-License-Identifier: MIT
/* What the numbers of loops mean, by the mode of the recording. */
#include "report.h"

#include <inttypes.h>

#include "report_write.h"

/* A callback of this kind, in any process. */
static struct callback callback_of(const struct profile *p, unsigned op)
{
	struct callback all = { 0 };

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct callback *c = &((const struct process *)s->value)->callbacks[op];

		if (c->least && (!all.least || c->least < all.least))
			all.least = c->least;
		if (c->most > all.most)
			all.most = c->most;
	}
	return all;
}

/* `narrow`: what follows a single number, `wide`: what follows a range, which takes more of the line. */
static void write_one_callback(const struct report *r, const char *before, unsigned op, const char *narrow,
			       const char *wide)
{
	struct callback c = callback_of(r->p, op);

	fputs(before, r->f);
	if (c.most) {
		fputs(" of ", r->f);
		write_callback(r, &c);
	}
	fputs(c.least == c.most ? narrow : wide, r->f);
}

#define INSTRUMENTED \
	", and base opcodes\nran: these numbers show where trips spend their cycles, not how many they need.\n"

const char *report_base(const struct profile *p)
{
	return profile_has_cpu(p) ? "CPU time" : profile_has_waits(p) ? "time without waiting" : "time";
}

static bool is_inside(const struct loop *inner, const struct loop *outer)
{
	return inner->code == outer->code && inner->head > outer->head && extent_has(&outer->extent, inner->head);
}

#define SHARE_SEEN 0.001 /* shares have one digit */

/* Do the shares of its own that a loop and those inside it have add up to more than its total? */
static bool exceeds(const struct report *r, const struct summed *outer, const struct summed *loops, size_t n)
{
	double own = report_share(r, outer), total = report_total_share(r, outer), inner = 0;

	for (size_t i = 0; i < n; i++)
		if (is_inside(loops[i].loop, outer->loop))
			inner += report_share(r, &loops[i]);
	return inner > 0 && own + inner >= total + SHARE_SEEN;
}

static void write_exceeding(const struct report *r, const struct summed *loops, size_t n)
{
	size_t i = 0;

	while (i < n && !exceeds(r, &loops[i], loops, n))
		i++;
	if (i < n)
		fputs(" Inner loops run in that trip, too, and are\ntimed: their own times and the outer loop's can "
		      "add up "
		      "to more than its total.",
		      r->f);
}

void report_interpolated(const struct report *r)
{
	if (r->p->coarse)
		fprintf(r->f,
			"Times are interpolated: the clock was read for one marker of %" PRIu32 " and for waits.\n"
			"Counts, order and waits are exact. What has fewer markers (a short trip or\n"
			"call, an instruction) has an equal part of the time of its neighbours: means\n"
			"of trips hold, their median, p99, min and max (~) do not, and self times of\n"
			"short functions are shared with their callers.\n",
			r->p->coarse);
}

void report_meaning(const struct report *r, const struct summed *loops, size_t n)
{
	const struct process *root = profile_root(r->p);

	fprintf(r->f,
		"Shares are of the %s of all threads. Own: with calls, but without\n"
		"inner loops. A trip is one iteration, timed with its calls, inner loops and\n"
		"waiting. The first trip after entering a loop is counted, but its time is that\n"
		"of what is around the loop.",
		report_base(r->p));
	write_exceeding(r, loops, n);
	if (r->p->events[OP_INSTRUCTION] && !profile_instrumented(r->p))
		fprintf(r->f, "\nBytecodes were read from branch packets: %sthe\n%s\n",
			profile_specializes(r->p) ? "specialization was left on, and " : "",
			root && root->program_only ? "numbers have nothing that runs only because of tracing."
						   : "only callbacks in these numbers are those of calls.");
	else if (r->p->events[OP_INSTRUCTION])
		write_one_callback(r, "\nEach bytecode adds a callback", OP_INSTRUCTION, INSTRUMENTED, INSTRUMENTED);
	else if (!profile_specializes(r->p))
		write_one_callback(r, "\nEach trip contains one callback", OP_JUMP, " (a call has two).\n",
				   " (a call has two).\n");
	else
		write_one_callback(r, "\nEach trip contains one callback", OP_JUMP,
				   " (a call has two); specialization\nwas left on.\n",
				   " (a call has two);\nspecialization was left on.\n");
}

void report_calls(const struct report *r)
{
	struct callback call = callback_of(r->p, OP_CALL);

	if (!r->p->events[OP_CALL])
		return;
	fputs("Calls    unspecialized", r->f);
	if (call.most) {
		fputs("; each CALL and C_RETURN adds ", r->f);
		write_callback(r, &call);
	} else {
		fputs(" by CALL events", r->f);
	}
	fputc('\n', r->f);
}
