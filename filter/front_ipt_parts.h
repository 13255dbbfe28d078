/* SPDX-License-Identifier: MIT */
/*
 * front_ipt_parts.h - what front_ipt.c has of front_ipt_words.c and front_ipt_recover.c; no other file needs it.
 *
 * f->g.analysis is set, and f->g.pipe where there are two threads. Functions that return an int return 0 or a negative
 * errno, as those of gather.h.
 */
#pragma once

#include "front_ipt.h"

/* --- front_ipt_words.c ------------------------------------------------------------------------------------ */

/* The whole trace, as words: into the pipe; in this thread alone. */
int front_ipt_read_words(struct front_ipt *f);
int front_ipt_read_alone(struct front_ipt *f);

/* --- front_ipt_recover.c ---------------------------------------------------------------------------------- */

/* The whole trace, recovered: samples go where f->g.analysis->recover sends them. */
int front_ipt_read_recovering(struct front_ipt *f);

/* From now on they go into the pipe. */
void front_ipt_send_to_pipe(struct front_ipt *f, struct recover *r);

/* The pipe has those made so far. */
int front_ipt_put_samples(struct recover *r);
