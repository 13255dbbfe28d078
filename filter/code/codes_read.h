/* SPDX-License-Identifier: MIT */
/*
 * codes_read.h - reading codes-PID.jsonl into a struct process; used by codes.c alone.
 *
 * The two need each other: a fork's table refers to code objects of its parent, whose table is then read.
 */
#pragma once

#include "codes.h"

/*
 * Reads DIR/codes-PID.jsonl of p->pid into p. A missing file or damaged lines are counted in c, not
 * errors. -EPROTO: the table is of a newer format; -ENOMEM. Both leave c->error.
 */
int codes_read(struct codes *c, struct process *p);

/* Reads on where the last time ended. Likewise. */
int codes_read_more(struct codes *c, struct process *p);

/* A slot for id, empty if it is new. NULL: no memory, or no id that a marker can hold. (codes.c) */
struct code *codes_add(struct process *p, uint32_t id);
