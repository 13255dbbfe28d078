/* SPDX-License-Identifier: MIT */
/*
 * rings.h - makes, announces and reuses the rings of this process.
 *
 * A ring of a thread that ended goes to the next thread that begins, so a program of many short threads needs only as
 * many rings as it has threads at a time. Callers hold the process lock.
 */
#pragma once

#include <stdbool.h>

#include "shared/ring.h"

/* Rings from now on have config->nrecords records and are announced in folder dir (copied). -ENOMEM. */
int rings_start(const struct ring_config *config, const char *dir);

/* The start's folder, a copy to free(); NULL before the first. Without the process lock. */
char *rings_where(void);

/* The start's config; nrecords is 0 before the first. */
const struct ring_config *rings_config(void);

/* A ring for thread tid, or NULL with errno. *used: an earlier thread wrote into it. */
struct ring *rings_take(uint32_t tid, bool *used);

/*
 * Memory for more of r's records, twice as many as have it; those of a new ring have none. Between growths no page of r
 * is touched for the first time, as long as its thread does not write beyond r->populated.
 */
void rings_grow(struct ring *r);

/* Given back by a thread that ended, for the next one. */
void rings_give(struct ring *r);

/* Nobody will write into r any more: mark it so and release it. */
void rings_finish(struct ring *r);

/* rings_finish() for all that were given back. */
void rings_stop(void);

/* In a forked child: rings are not inherited (MADV_DONTFORK); forget them untouched. */
void rings_forget(void);

/* Records ever written into it. */
uint64_t rings_head(const struct ring *r);

/* Records there is room for now. */
uint32_t rings_room(struct ring *r);

/* True if nobody will read r any more: closed, or the recorder is dead. NULL instead of a ring: only the latter. */
bool rings_deserted(struct ring *r);
