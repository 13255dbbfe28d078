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
#include "lives.h"
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

/* In the order in which events need them: most need no more than its first line of the processor's cache, or two. */
struct object {
	_Alignas(64) union {
		struct code *code;
		struct object *spare; /* of one that is no more: the next such one */
	};
	uint64_t address;	 /* payload of KIND_OBJECT; 0: not told yet */
	struct async_task *task; /* its, or NULL */
	bool asked;		 /* whether it is a task's */
	bool older;		 /* there was no PY_START: it is older than the trace, or than a gap in it */
	bool running;		 /* a frame on a stack is its */
	bool suspended;		 /* it has yielded, */
	uint32_t epoch;		 /* in this one of objects, */
	uint64_t since_ns;	 /* then, */
	struct nested *spans;	 /* in these spans (nested.h), */
	struct held_loops held;	 /* with these loops open, */
	struct object *awaits;	 /* this one had yielded right before, and may be something else now; NULL: none, */
	struct awaiter awaiter;	 /* and so did what awaits it, */
	uint64_t serial;	 /* 1, 2, ... in order of appearance */
	uint64_t begun_ns;	 /* at its PY_START */
	struct eager eager;	 /* in this step it yielded */
	struct called called;	 /* the task that it last ran in */
	struct object *then;	 /* went on after this one, a task's, the last time, and may be something else now */
};

struct objects {
	struct map by_address; /* -> struct object, if it has that address still */
	struct map adopted;    /* addresses of those whose beginning this analysis has not seen; until apart_check() */
	uint64_t serials;      /* given so far */
	uint32_t epoch;	       /* counts gaps */
	bool told;	       /* markers tell addresses */
	struct object *spare;  /* those that are no more, for new ones: few of many are alive at a time */
	struct lives *lives;   /* of all so far; NULL: nobody compares them */
};

/* Its PY_START. NULL: no memory. */
struct object *objects_begin(struct objects *all, struct code *code, uint64_t ns);

/* The one at that address, if it is this one; else not known. Unlike a look-up this reads no table. */
static inline bool object_is_at(const struct object *o, uint64_t address)
{
	return o && o->address == address;
}

/* Has it yielded, and not gone on? NULL, and what is not known any more: no. */
static inline bool object_is_suspended(const struct objects *all, const struct object *o)
{
	return o && o->suspended && o->epoch == all->epoch;
}

/* It goes on soon: what is needed then is on its way meanwhile. NULL: nothing does. */
static inline void object_fetch(const struct object *o)
{
	for (size_t at = 0; at < sizeof(*o); at += 64)
		__builtin_prefetch((const void *)((uintptr_t)o + at));
}

/* What lives at that address; NULL: nothing that is known. */
static inline struct object *objects_find(const struct objects *all, uint64_t address)
{
	struct object *o = map_get(&all->by_address, address);

	return object_is_at(o, address) ? o : NULL;
}

/* The one of that code at the address; if none is known there, it is older. NULL: no memory. */
struct object *objects_at(struct objects *all, struct code *code, uint64_t address, uint64_t ns);

/* It is at that address. 0 or -ENOMEM. */
int objects_tell(struct objects *all, struct object *o, uint64_t address);

/* It has ended, or what becomes of it is not known. Frees it. */
void objects_end(struct objects *all, struct object *o, uint64_t ns, bool seen);

/* Its last event so far; UINT64_MAX: it runs. */
static inline uint64_t object_last_ns(const struct object *o)
{
	return o->running ? UINT64_MAX : o->since_ns;
}

/* Another object has its address, of a thread that is analysed elsewhere. Frees it. */
void objects_replaced(struct objects *all, struct object *o);

/* Markers are missing: what is suspended may have been resumed, or have ended, meanwhile. */
static inline void objects_lose(struct objects *all)
{
	all->epoch++;
}

/* The trace ends: what is suspended stays so. Frees all but what a frame has. */
void objects_free(struct objects *all);
