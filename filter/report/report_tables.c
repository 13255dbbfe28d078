// SPDX-License-Identifier: MIT
/* Loops and functions: numbers first, in columns as wide as they can get, names last. */

#include "report.h"
#include "report_write.h"

#define SHARE  6
#define NUMBER 7
#define TIME   11

static void write_loop(const struct report *r, const struct loop *loop)
{
	const struct stat_sum *s = &loop->cycles;
	const double columns[] = {
		loop->iterations, stat_mean(s), stat_quantile(s, 0.5), stat_quantile(s, 0.99), s->min, s->max,
	};
	size_t i, all = sizeof(columns) / sizeof(columns[0]), n = s->n ? all : 1;

	write_share(r, profile_share(r->p, loop), 1);
	fputc(' ', r->f);
	write_share(r, profile_own_share(r->p, loop), 1);
	for (i = 0; i < n; i++)
		write_number(r, columns[i]);
	for (; i < all; i++)
		fprintf(r->f, " %6s", "-");
	write_place(r, loop->code, loop->line, loop->head, 2 * SHARE + 1 + all * NUMBER);
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
	write_title(r, "Hottest loops          cycles of a trip");
	fputs(" share    own  trips   mean median    p99    min    max  loop\n", r->f);
	for (size_t i = 0; i < n; i++)
		write_loop(r, loops[i]);
	report_meaning(r);
	if (!all_exact(loops, n))
		fputs("With more than 32 distinct values, median and p99 are approximate (within 1/16).\n", r->f);
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

void report_functions(const struct report *r, struct code *const *functions, size_t n)
{
	if (!n)
		return;
	write_title(r, "Functions by self time");
	fputs(" share       self      total  calls  function\n", r->f);
	for (size_t i = 0; i < n; i++)
		write_function(r, functions[i]);
}
