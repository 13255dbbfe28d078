// SPDX-License-Identifier: MIT
/* How much of a function's time is CPython's own work for LINE events. */
#include "report.h"
#include "report_write.h"

#define ROWS 5

/* What is less is no news: each event costs something, in all functions. */
#define SHARE_TOLD    0.1
#define SHARE_OF_TIME 0.01

double report_lookups_share(const struct report *r, const struct summed *s)
{
	const struct function *f = s->code->function;
	uint64_t busy = f->self_ns - f->self_off.ns, ns = function_lookup_ns(s->code);

	return busy && ns >= SHARE_TOLD * busy && report_share(r, s) >= SHARE_OF_TIME ? (double)ns / busy : 0;
}

void report_lookups(const struct report *r, const struct report_top *top)
{
	unsigned n = 0;

	for (size_t i = 0; i < top->nfunctions && n < ROWS; i++) {
		double share = report_lookups_share(r, &top->functions[i]);

		if (!share)
			continue;
		if (!n++)
			fputs("\nself time that this CPython takes to find the lines of LINE events (estimate)\n",
			      r->f);
		write_share(r, share, 1);
		write_place(r, top->functions[i].code, top->functions[i].code->firstlineno, SAMPLE_NOWHERE, 6);
	}
	if (n)
		fputs("Their shares are too large. Modes adaptive and calls have no LINE events; CPython 3.14 is quick "
		      "at it.\n",
		      r->f);
}
