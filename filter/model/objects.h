/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the generators, coroutines and asynchronous generators of a process, by the addresses that markers tell.
 *
 * PY_START makes a new one, with a serial number, whose address its first yield tells. So an address that is used again
 * is no riddle: it is that of the newest object. What was suspended there has been destroyed, which makes no event from
 * CPython 3.13 on. When markers are missing nothing that was suspended is known any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "loop.h"
#include "steps.h"

struct code;
struct async_task;
struct nested;

/* Of an object, at a yield of it. */
struct awaiter {
	uint64_t address, serial; /* 0: none is known */
	uint64_t since_ns;
};

/* A coroutine, whose task is not told yet, is suspended for the first time: it began in the step of something else. */
struct eager {
	uint64_t step; /* that one (steps.h); 0: it is none */
	const struct code *where, *by;
};

struct object {
	uint64_t serial; /* 1, 2, ... in order of appearance */
	struct code *code;
	uint64_t address;	 /* payload of KIND_OBJECT; 0: not told yet */
	uint64_t begun_ns;	 /* at its PY_START */
	bool older;		 /* there was none: it is older than the trace, or than a gap in it */
	bool running;		 /* a frame on a stack is its */
	struct called called;	 /* the task that it last ran in */
	bool asked;		 /* whether it is a task's: */
	struct async_task *task; /* its, or NULL */
	bool suspended;		 /* it has yielded, */
	uint64_t since_ns;	 /* then, */
	uint32_t epoch;		 /* in this one of objects, */
	struct eager eager;	 /* in this step, */
	struct awaiter awaiter;	 /* and so did what awaits it, */
	struct held_loops held;	 /* with these loops open, */
	struct nested *spans;	 /* and in these spans (nested.h) */
};

struct objects {
	struct map by_address; /* -> struct object, or the one that all the dead are */
	uint64_t serials;      /* given so far */
	uint32_t epoch;	       /* counts gaps */
	bool told;	       /* markers tell addresses */
};

/* Its PY_START. NULL: no memory. */
struct object *objects_begin(struct objects *all, struct code *code, uint64_t ns);

/* What lives at that address; NULL: nothing that is known. */
struct object *objects_find(const struct objects *all, uint64_t address);

/* The one of that code at the address; if none is known there, it is older. NULL: no memory. */
struct object *objects_at(struct objects *all, struct code *code, uint64_t address, uint64_t ns);

/* It is at that address. 0 or -ENOMEM. */
int objects_tell(struct objects *all, struct object *o, uint64_t address);

/* It has ended, or what becomes of it is not known. Frees it. */
void objects_end(struct objects *all, struct object *o, uint64_t ns, bool seen);

/* Markers are missing: what is suspended may have been resumed, or have ended, meanwhile. */
static inline void objects_lose(struct objects *all)
{
	all->epoch++;
}

/* The trace ends: what is suspended stays so. Frees all but what a frame has. */
void objects_free(struct objects *all);
