/* SPDX-License-Identifier: MIT */
/*
 * recover.h - branch targets and a few markers -> an INSTRUCTION sample for each bytecode that ran.
 *
 * Stands between decode.c and trace.c: samples come in from the one, more go out to the other. The
 * opcodes of a thread are known from its dispatches (dispatch.h); whose they are and where is found
 * by walking the code objects (walk.h) along with them, through calls and returns. Markers begin
 * frames (PY_START, PY_RESUME, PY_THROW), end them (PY_UNWIND), and tell where an exception or a
 * branch led. What leaves a frame by a return or a yield is an instruction: PY_RETURN and PY_YIELD
 * are made here.
 *
 * Where several ways fit they are all kept until one is left; what they have in doubt waits. What
 * can never be told is left out and counted, and so is what runs where no place is known: before the
 * first marker, after a gap, in code that nothing told of.
 */
#ifndef OCULAR_RECOVER_H
#define OCULAR_RECOVER_H

#include <stdio.h>

#include "recover_common.h"

void recover_init(struct recover *r, struct codes *codes, sample_fn feed, void *to);

/* Samples go elsewhere from now on, all of them by `feed`. */
void recover_redirect(struct recover *r, sample_fn feed, void *to);

/*
 * Most are made in room..end from now on. `full` sets both anew; so may `feed`, as what it takes comes between them.
 * What stands before r->room in the end, `full` was not called for.
 */
void recover_give_room(struct recover *r, struct sample *room, struct sample *end, int (*full)(struct recover *r));

/* A sample_fn whose `to` is a struct recover. 0, -ENOMEM, or what feed returned; so do the next three. */
int recover_sample(void *recover, const struct sample *s);

/* An indirect branch was taken, w->bits is its target. What is no handler is passed over. */
int recover_branch(struct recover *r, const struct word *w);

/* The thread of many branches, for recover_quick.h. NULL: no memory. */
struct recover_thread *recover_thread_at(struct recover *r, int32_t pid, int32_t tid);

/* Tracing goes on at w->bits, as it does behind a call of what is not traced. */
int recover_enter(struct recover *r, const struct word *w);

/* Branches of this thread are missing at this point. */
int recover_gap(struct recover *r, int32_t pid, int32_t tid);

/* The end of the trace: what still waits is unsure. */
int recover_finish(struct recover *r);

/* What was recovered and what not, in plain words. */
void recover_report(const struct recover *r, FILE *f);

void recover_free(struct recover *r);

#endif
