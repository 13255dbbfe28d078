// SPDX-License-Identifier: MIT
/* What was recovered and what not, in plain words. */
#include <inttypes.h>

#include "recover.h"

void recover_report(const struct recover *r, FILE *f)
{
	const struct recover_counts *c = &r->counts;
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{ c->makers, "made generators, of no known code" },
		{ c->lost, "where no code or place was known" },
		{ c->repeats, "of those may be the one before them, dispatched again" },
		{ c->excluded, "of code that is left out, not counted here" },
		{ c->unsure, "with more than one place that fits" },
	};

	if (r->codes->handlers)
		fprintf(f,
			"ocular: %" PRIu64 " opcode handlers of exec'ed programs are left out, and what ran by them\n",
			r->codes->handlers);
	if (!c->dispatched) {
		fputs("ocular: no branches in this trace, so no instructions: branch=1 records them\n", f);
		return;
	}
	fprintf(f, "ocular: %" PRIu64 " of %" PRIu64 " instructions recovered (%.3f %%)\n", c->placed, c->dispatched,
		100.0 * c->placed / c->dispatched);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].count)
			fprintf(f, "ocular: %" PRIu64 " instructions %s\n", rows[i].count, rows[i].what);
	if (c->mismatches)
		fprintf(f, "ocular: %" PRIu64 " times the recovery lost its way\n", c->mismatches);
}
