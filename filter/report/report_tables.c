// SPDX-License-Identifier: MIT
/* Loops and functions: numbers first, in columns as wide as they can get, names last. */

#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "report_write.h"

#define SHARE  6
#define SPAN   8
#define NUMBER 7
#define TIME   11
#define KIND   9

/* What waits less than this part of the time is left out. */
#define SHARE_WAITING 0.01

static double share(const struct profile *p, uint64_t ns, struct off off)
{
	bool cpu = profile_has_cpu(p);
	uint64_t all = p->traced_ns - (cpu ? p->traced_off.ns : 0);

	return all ? (double)(ns - (cpu ? off.ns : 0)) / all : 0;
}

double report_share(const struct profile *p, const struct loop *loop)
{
	return share(p, loop->time, loop->off);
}

double report_own_share(const struct profile *p, const struct loop *loop)
{
	return share(p, loop->own_time, loop->own_off);
}

double report_self_share(const struct profile *p, const struct code *code)
{
	return share(p, code->function->self_ns, code->function->self_off);
}

/* How long a trip takes at the least is what gives way to how long the loop waits. */
static unsigned write_trips(const struct report *r, const struct loop *loop, bool least)
{
	const struct stat_sum *s = &loop->cycles;
	const double columns[] = {
		loop->iterations, stat_mean(s), stat_quantile(s, 0.5), stat_quantile(s, 0.99), s->min, s->max,
	};
	unsigned used = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (&columns[i] == &columns[4] && !least)
			continue;
		if (s->n || !i)
			write_number(r, columns[i]);
		else
			fprintf(r->f, " %6s", "-");
		used += NUMBER;
	}
	return used;
}

static void write_loop(const struct report *r, const struct loop *loop)
{
	bool cpu = profile_has_cpu(r->p);
	unsigned used = 2 * SHARE + 1;

	write_share(r, report_share(r->p, loop), 1);
	fputc(' ', r->f);
	write_share(r, report_own_share(r->p, loop), 1);
	if (cpu) {
		write_span(r, loop->off.waiting_ns);
		used += SPAN;
	}
	used += write_trips(r, loop, !cpu);
	write_place(r, loop->code, loop->line, loop->head, used);
}

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

void report_meaning(const struct report *r)
{
	const struct process *root = profile_root(r->p);

	fputs("Own: the share minus time spent in inner loops. A trip is one iteration, calls\n"
	      "included. The first trip after entering a loop is counted but not timed.",
	      r->f);
	if (profile_has_cpu(r->p))
		fputs("\nShares are of the CPU time; cycles of a trip include waiting.", r->f);
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

static bool all_exact(struct loop *const *loops, size_t n)
{
	bool exact = true;

	for (size_t i = 0; i < n; i++)
		exact &= stat_exact(&loops[i]->cycles);
	return exact;
}

void report_loops(const struct report *r, struct loop *const *loops, size_t n)
{
	if (!n) {
		fputs("\nNo loops: no back-edge was seen "
		      "(modes adaptive, precise and full record them).\n",
		      r->f);
		return;
	}
	if (profile_has_cpu(r->p)) {
		write_title(r, "Hottest loops by CPU time      cycles of a trip");
		fputs(" share    own    wait  trips   mean median    p99    max  loop\n", r->f);
	} else {
		write_title(r, "Hottest loops          cycles of a trip");
		fputs(" share    own  trips   mean median    p99    min    max  loop\n", r->f);
	}
	for (size_t i = 0; i < n; i++)
		write_loop(r, loops[i]);
	report_meaning(r);
	if (!all_exact(loops, n))
		fputs("With more than 32 distinct values, median and p99 are approximate (within 1/16).\n", r->f);
}

static void write_busy_function(const struct report *r, const struct code *code)
{
	const struct function *fn = code->function;

	write_share(r, report_self_share(r->p, code), 1);
	write_span(r, fn->self_ns);
	write_span(r, fn->self_ns - fn->self_off.ns);
	write_span(r, fn->self_off.waiting_ns);
	write_span(r, fn->total_ns);
	write_number(r, fn->calls);
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, SHARE + 4 * SPAN + NUMBER);
}

static void write_function(const struct report *r, const struct code *code)
{
	const struct function *fn = code->function;

	write_share(r, fn->self_ns, r->p->traced_ns);
	write_duration(r, fn->self_ns);
	write_duration(r, fn->total_ns);
	write_number(r, fn->calls);
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, SHARE + 2 * TIME + NUMBER);
}

/* title: without and with CPU times. */
static void write_functions(const struct report *r, const char *const title[2], struct code *const *functions, size_t n)
{
	if (!n)
		return;
	if (profile_has_cpu(r->p)) {
		write_title(r, title[1]);
		fputs(" share    wall     cpu    wait   total  calls  function\n", r->f);
	} else {
		write_title(r, title[0]);
		fputs(" share       self      total  calls  function\n", r->f);
	}
	for (size_t i = 0; i < n; i++)
		(profile_has_cpu(r->p) ? write_busy_function : write_function)(r, functions[i]);
}

/* How long a function waited: by the kernel, or else as the program tells. */
static uint64_t waiting_ns(const struct profile *p, const struct function *fn)
{
	return profile_has_cpu(p) ? fn->self_off.waiting_ns : fn->waits ? waits_ns(fn->waits) : 0;
}

static void write_waiting(const struct report *r, const struct code *code)
{
	const struct function *fn = code->function;
	enum wait_kind most = fn->waits ? waits_most(fn->waits) : 0;

	write_share(r, waiting_ns(r->p, fn), r->p->traced_ns);
	write_span(r, waiting_ns(r->p, fn));
	write_number(r, fn->calls);
	fprintf(r->f, "  %-7s", most ? wait_name(most) : "-");
	write_place(r, code, code->firstlineno, SAMPLE_NOWHERE, SHARE + SPAN + NUMBER + KIND);
}

int report_waiting(const struct report *r, size_t most)
{
	size_t n, i;
	struct code **all = profile_all_functions(r->p, &n, profile_has_cpu(r->p) ? RANK_WAITING : RANK_WAITS);
	double least = SHARE_WAITING * r->p->traced_ns;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n && i < most; i++) {
		uint64_t ns = waiting_ns(r->p, all[i]->function);

		if (!ns || ns < least)
			break;
		if (!i) {
			write_title(r, "Functions by waiting time, of the time of all threads");
			fputs(" share    wait  calls  for      function\n", r->f);
		}
		write_waiting(r, all[i]);
	}
	free(all);
	return 0;
}

void report_functions(const struct report *r, struct code *const *functions, size_t n)
{
	static const char *const title[] = { "Functions by self time", "Functions by self CPU time" };

	write_functions(r, title, functions, n);
}

void report_c_functions(const struct report *r, struct code *const *functions, size_t n)
{
	static const char *const title[] = { "C functions by self time", "C functions by self CPU time" };

	write_functions(r, title, functions, n);
}

void report_calls(const struct report *r)
{
	struct callback call = callback_of(r->p, OP_CALL);

	if (!r->p->events[OP_CALL])
		return;
	fputs("Calls    CALL events kept calls from being specialized", r->f);
	if (call.most) {
		fputs("; each added ", r->f);
		write_callback(r, &call);
		fputs(",\n         as did each C_RETURN", r->f);
	}
	fputc('\n', r->f);
}
