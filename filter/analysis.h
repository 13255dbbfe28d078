/* SPDX-License-Identifier: MIT */
/*
 * analysis.h - everything after a front end, put together: decoder -> trace -> sinks.
 *
 * A front end opens one, feeds decoder (words) or trace (samples), and finishes it.
 */
#pragma once

#include <stdbool.h>

#include "code/codes.h"
#include "code/codes_part.h"
#include "model/chains.h"
#include "model/decode.h"
#include "options.h"
#include "recover/recover.h"
#include "model/trace.h"

#define ANALYSIS_ERROR SINK_ERROR

struct analysis {
	struct analysis *next; /* of other processes, in another thread (analysis_open_part()) */
	struct codes codes;
	struct trace trace;
	struct chains chains;
	struct recover recover;
	bool recovers; /* a code table has the handlers' addresses: branches count */
	struct decoder decoder;
	char error[ANALYSIS_ERROR]; /* one line, if a function returned a negative number */
};

/* dir: the folder of the code tables, NULL for none. 0 or a negative errno; then nothing is open. */
int analysis_open(struct analysis *a, const struct options *o, const char *dir);

/*
 * The same in two steps: no output exists before the second. grows: the recording is still being written. Each 0 or a
 * negative errno; then nothing is open.
 */
int analysis_open_codes(struct analysis *a, const char *dir, bool grows);
int analysis_open_sinks(struct analysis *a, const struct options *o);

/*
 * Another one for some of the processes, for another thread: analysis_finish() of the first adds it to that, and
 * analysis_close() frees it. No table is read meanwhile. 0 or a negative errno.
 */
int analysis_open_part(struct analysis **part, struct analysis *all, const struct options *o,
		       const struct codes_parts *parts, unsigned number);

/* Of several, each: its thread feeds it no more. */
void analysis_heard(struct analysis *a);

/* A decoded sample, from a front end without words. A sample_fn; to is a struct analysis. */
int analysis_feed(void *analysis, const struct sample *s);

/* An indirect branch to w->bits. Any word the decoder holds back came before it. */
static inline int analysis_branch(struct analysis *a, const struct word *w)
{
	int err = 0;

	if (!a->recovers)
		return 0;
	if (a->decoder.holding)
		err = decode_settle(&a->decoder, w->pid, w->tid);
	return err ? err : recover_branch(&a->recover, w);
}

/* Sets a->error for the error of feeding, unless it is already set. Returns err. */
int analysis_fail(struct analysis *a, int err);

/*
 * Settles what is open and finishes the sinks. counted: the front end fed words, so the words a process wrote can be
 * compared with those that arrived, even if none did. 0 or a negative errno; -EAGAIN: parts cannot be joined.
 */
int analysis_finish(struct analysis *a, bool counted);

/* Are there PTWRITEs, but none of them Ocular's? */
bool analysis_is_foreign(const struct analysis *a);

#define ANALYSIS_FOREIGN "all PTWRITEs here are other software's: no Python was traced by Ocular"

/* Frees everything; outputs that were not finished are discarded. */
void analysis_close(struct analysis *a);
