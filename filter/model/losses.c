// SPDX-License-Identifier: MIT
#include "losses.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Services are stopped like this, and many end by the signal itself when they have handled it. */
static bool was_asked_to_end(const struct process *p)
{
	return p->killed == SIGTERM || p->killed == SIGINT || p->killed == SIGHUP;
}

/*
 * Without a `stop` line only the recorder can know whether a process wrote more than arrived. Of a file that it closed
 * it does: workers of a pool end by os._exit, and lose nothing. But a crash of the program should not go untold.
 */
static uint64_t unstopped(const struct profile *p)
{
	bool closed = codes_closed(p->codes, p->file);
	uint64_t n = 0;

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *process = s->value;

		n += process->found && !process->stopped && !was_asked_to_end(process) && (process->killed || !closed);
	}
	return n;
}

static uint64_t untraced(const struct profile *p)
{
	uint64_t n = 0;

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));)
		n += ((const struct process *)s->value)->untraced != NULL;
	return n;
}

unsigned losses_of(const struct profile *p, struct loss rows[static LOSSES])
{
	bool closed = codes_closed(p->codes, p->file);
	const struct {
		const char *key;
		uint64_t count;
		const char *one, *many;
	} all[LOSSES] = {
		{ "markers", p->lost_markers, "marker is missing, at least", "markers are missing, at least" },
		{ "gaps", p->gaps, "gap: what was open there was closed", "gaps: what was open there was closed" },
		{ "foreign", p->foreign, "PTWRITE of other software, ignored", "PTWRITEs of other software, ignored" },
		{ "unmatched", p->unmatched, "call or return whose other end was not seen",
		  "calls or returns whose other end was not seen" },
		{ "mismatches", p->mismatches, "place where the stack was switched unseen, as greenlets do",
		  "places where the stack was switched unseen, as greenlets do" },
		{ "backwards", p->backwards, "event has an earlier time than the event before it",
		  "events have an earlier time than the event before them" },
		{ "damaged_lines", p->codes->damaged, "line of a code table could not be read",
		  "lines of code tables could not be read" },
		{ "missing_tables", p->codes->missing, "process has no code table", "processes have no code table" },
		{ "unknown_codes", p->codes->unknown, "code object is in no table: \"code ID\"",
		  "code objects are in no table: \"code ID\"" },
		{ "unstopped", unstopped(p),
		  closed ? "process was killed: what it wrote is all here, what it had specialized at its end is not"
			 : "process did not stop in order: its last markers may be missing",
		  "processes did not stop in order: their last markers may be missing" },
		{ "limited", p->codes->limited, "maximum size was reached: what the program did after that is missing",
		  "" },
		{ "trimmed", p->codes->trimmed, "part of the recording is missing: all but its end, by --keep-last",
		  "" },
		{ "repaired", p->cut, "part of the recording may be missing: its file was incomplete and was repaired",
		  "" },
		{ "untraced", untraced(p), "Python process could not be traced",
		  "Python processes could not be traced" },
		{ "missing_files", codes_missing_pieces(p->codes, p->file),
		  "other file of this recording is not in its folder",
		  "other files of this recording are not in its folder" },
	};
	unsigned n = 0;

	for (int i = 0; i < LOSSES; i++) {
		rows[i] = (struct loss){ all[i].key, all[i].count, all[i].count == 1 ? all[i].one : all[i].many };
		n += all[i].count != 0;
	}
	return n;
}

const char *losses_skipped(uint64_t count)
{
	return count == 1 ? "marker of a kind this Ocular does not know was skipped: not a loss"
			  : "markers of kinds this Ocular does not know were skipped: not a loss";
}

char *losses_unmatched(const struct unmatched *u, size_t most)
{
	char *text = NULL, **near = u->nearest;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "--%s ", u->option);
	text_elided(f, u->pattern, most);
	if (near && *near && !strcmp(*near, u->pattern))
		fputs(strcmp(u->option, "trigger") ? ": never raised" : ": never called", f);
	else if (near && *near)
		fputs(": did you mean ", f);
	for (const char *before = ""; near && *near && strcmp(*near, u->pattern); near++, before = ", ") {
		fputs(before, f);
		text_elided(f, *near, most);
	}
	fclose(f);
	return text;
}
