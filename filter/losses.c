// SPDX-License-Identifier: MIT
#include "losses.h"

#include <string.h>

/* Without its `stop` line nobody knows whether a process wrote more than what came. */
static uint64_t unstopped(const struct profile *p)
{
	uint64_t n = 0;

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *process = s->value;

		n += process->found && !process->stopped;
	}
	return n;
}

unsigned losses_of(const struct profile *p, struct loss rows[static LOSSES])
{
	const struct loss all[LOSSES] = {
		{ "markers", p->lost_markers, "markers are missing, at least" },
		{ "gaps", p->gaps, "gaps: what was open there was closed" },
		{ "foreign", p->foreign, "PTWRITEs of other software, left alone" },
		{ "unmatched", p->unmatched, "calls or returns whose other end was not seen" },
		{ "damaged_lines", p->codes->damaged, "lines of code tables could not be read" },
		{ "missing_tables", p->codes->missing, "processes have no code table" },
		{ "unknown_codes", p->codes->unknown, "code objects are in no table: \"code ID\"" },
		{ "unstopped", unstopped(p), "processes ended out of order: their last markers may be missing" },
	};
	unsigned n = 0;

	memcpy(rows, all, sizeof(all));
	for (int i = 0; i < LOSSES; i++)
		n += all[i].count != 0;
	return n;
}
