/* SPDX-License-Identifier: MIT */
/*
 * recover.h - branch targets and a few markers -> an INSTRUCTION sample for each bytecode that ran.
 *
 * Sits between decode.c and trace.c: takes samples from the one and passes more to the other. Dispatches name the
 * opcodes of a thread (dispatch.h); their frame and place are found by walking the code objects (walk.h) along with
 * them, through calls and returns. Markers begin frames (PY_START, PY_RESUME, PY_THROW), end them (PY_UNWIND), and say
 * where an exception or a branch led. Returns and yields are instructions: PY_RETURN and PY_YIELD are made from them
 * here.
 *
 * If several places fit, all are kept until one is left, and the instructions in question wait. What can never be
 * decided is left out and counted, and so is what runs where no place is known: before the first marker, after a gap,
 * in code without a marker.
 */
#pragma once

#include <stdio.h>

#include "recover_common.h"

void recover_init(struct recover *r, struct codes *codes, sample_fn feed, void *to);

/* Samples go elsewhere from now on, all by `feed`. */
void recover_redirect(struct recover *r, sample_fn feed, void *to);

/*
 * Most are made in room..end from now on. `full` sets both anew; so may `feed`, as what it takes comes between them. At
 * the end, samples before r->room may be left for which `full` was not called.
 */
void recover_give_room(struct recover *r, struct sample *room, struct sample *end, int (*full)(struct recover *r));

/* A sample_fn whose `to` is a struct recover. 0, -ENOMEM, or what feed returned; so do the next three. */
int recover_sample(void *recover, const struct sample *s);

/* An indirect branch was taken, w->bits is its target. Targets that are not handlers are ignored. */
int recover_branch(struct recover *r, const struct word *w);

/* The thread of many branches, for recover_quick.h. NULL: no memory. */
struct recover_thread *recover_thread_at(struct recover *r, int32_t pid, int32_t tid);

/* Tracing continues at w->bits, as it does after a call of untraced code. */
int recover_enter(struct recover *r, const struct word *w);

/* Branches of this thread are missing at this point. */
int recover_gap(struct recover *r, int32_t pid, int32_t tid);

/* The end of the trace: what still waits is uncertain. */
int recover_finish(struct recover *r);

/* How much was recovered, as text. */
void recover_report(const struct recover *r, FILE *f);

void recover_free(struct recover *r);
