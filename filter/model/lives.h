/* SPDX-License-Identifier: MIT */
/*
 * lives.h - when objects of a process had which address, where its threads are analysed apart (apart.h).
 *
 * What is suspended may be destroyed, which makes no event, and another object gets its address. If that is one of a
 * thread that is analysed elsewhere, it is seen at the end, when the times of both are compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object;
struct objects;

struct life {
	uint64_t address;
	uint64_t begun_ns, last_ns; /* its first and last event; UINT64_MAX: it was running at last */
	struct object *open;	    /* it may go on; NULL: not any more */
	bool ended;		    /* that was seen: nothing else has been at that address meanwhile */
};

/*
 * So many are kept, 10 MB in each worker. When there are more, those that ended are forgotten; if the others are more
 * than half, they are unknown.
 */
#define LIVES_MOST (1u << 18)

/* Zeroed: there was none. */
struct lives {
	struct life *all;
	uint32_t n, room;
	uint64_t forgotten_ns; /* some of those that ended until then were forgotten */
	bool unknown;	       /* there were too many, or there was no memory */
};

void lives_add(struct lives *l, const struct life *life);
void lives_free(struct lives *l);

/*
 * The objects of a process in n analyses, each with lives; no event will come. What is suspended while its address is
 * another analysis's object is no more. 0 or -ENOMEM; -EAGAIN: it is not known which of two an event was of.
 */
int lives_settle(struct objects **of, unsigned n);
