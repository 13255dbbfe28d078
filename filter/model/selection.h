/* SPDX-License-Identifier: MIT */
/*
 * selection.h - the part of a recording that a report is of: by code, thread, function or task.
 *
 * What is left out by code is as if it had been recorded so: its time is its caller's. Of threads, functions and tasks
 * that were not asked for nothing remains, and the time between two calls of a function that was counts for nothing.
 */
#pragma once

#include "base/map.h"
#include "code/codes.h"
#include "sample.h"

/*
 * Patterns; NULL: all. Several of one kind are separated by ':'.
 *
 * include, exclude: modules or packages (json.decoder), or, with a slash or .py, globs of file names, which match the
 * whole path or what follows a slash of it. thread: a tid, or a glob of names. function, task: a glob of qualnames,
 * with "WHERE:" before it only those of what include would take by that. A task is what a coroutine runs that no other
 * one awaits; its name is the coroutine's.
 */
struct select {
	const char *include, *exclude, *thread, *function, *task;
};

static inline bool select_all(const struct select *s)
{
	return !s->include && !s->exclude && !s->thread && !s->function && !s->task;
}

struct selection {
	struct select by;
	struct codes *codes;
	struct map threads; /* (pid, tid) -> struct selected_thread */
};

enum selected {
	SELECTED_NOT,
	SELECTED,
	SELECTED_ANEW, /* and what the thread did since the last one counts for nothing: it begins again */
};

void selection_init(struct selection *s, const struct select *by, struct codes *codes);
void selection_free(struct selection *s);

/* enum selected, or -ENOMEM. Samples of one thread come in their order. */
int selection_take(struct selection *s, const struct sample *sample);

/* "--function 'x'": what was asked for, for an error. */
void selection_describe(const struct select *by, char *text, size_t size);
