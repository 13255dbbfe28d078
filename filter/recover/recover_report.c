// SPDX-License-Identifier: MIT
/* How much was recovered, as text. */
#include <inttypes.h>

#include "recover.h"

void recover_report(const struct recover *r, FILE *f)
{
	const struct recover_counts *c = &r->counts;
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{ c->makers, "made generators, of unknown code" },
		{ c->lost, "where no code or place was known" },
		{ c->repeats, "of these may repeat the one before them" },
		{ c->excluded, "of excluded code, not counted here" },
		{ c->unsure, "that fit at more than one place" },
	};

	if (r->codes->handlers)
		fprintf(f, "ocular: %" PRIu64 " opcode handlers of exec'ed programs are left out, with what they ran\n",
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
		fprintf(f, "ocular: %" PRIu64 " times the recovery lost track\n", c->mismatches);
}
