/* SPDX-License-Identifier: MIT */
/*
 * nested.h - spans of the program's own as sinks get them: nested in activations.
 *
 * A sink's slices must nest, the program's spans need not. So a span belongs to the activation in which it began, and
 * is shown while that runs: where a coroutine, generator or greenlet is suspended its spans end, and begin again,
 * without their data, when it goes on. A span that is over before another one inside it is shown until that is over;
 * one that is still open when its function returns is shown until then. How long spans took in all is what spans.h
 * has.
 */
#pragma once

#include "subscribers.h"

/* The spans of an activation, innermost first; NULL: none. */
struct nested;

/* The mark begins another one. 0, -ENOMEM, or what a sink returned. */
int nested_begin(struct nested **list, const struct label_mark *m, uint32_t which, const struct subscribers *to);

/* The innermost of that name and `which` is over: nested_end() ends it. false: there is none. */
bool nested_over(struct nested *list, const struct code *name, uint32_t which);

/* The innermost ones end that are over. Likewise; of m, the time and the thread. */
int nested_end(struct nested **list, const struct label_mark *m, const struct subscribers *to);

/* Their activation ends, for good or for now. Likewise. */
int nested_suspend(struct nested *list, const struct label_mark *m, const struct subscribers *to);

/* It goes on: those that are not over begin again. Likewise. */
int nested_resume(struct nested **list, const struct label_mark *m, const struct subscribers *to);

/* More of them, further out. */
void nested_append(struct nested **list, struct nested *outer);

void nested_free(struct nested **list);
