/* SPDX-License-Identifier: MIT */
/*
 * resumption.h - which yield does a resumption continue? For one process.
 *
 * Where markers say which generator it is (model/objects.h), that is known. Where they only name the code object
 * (--no-identity, older recordings), a suspended activation goes on where it yielded, and if exactly one of its code is
 * suspended there, that is the one. There is an answer only if it is certain: every yield of the code at that place
 * must have been seen from the process's start, and none lost.
 */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "model/sample.h"

struct object;
struct track;

/* Activations of a code object that are suspended at one place, or one of a known object. */
struct resumption {
	int64_t offset;	    /* bytes: of the PY_YIELD */
	uint64_t serial;    /* of the object */
	uint64_t suspended; /* how many */
	bool sure;	    /* if there is one: whose it is and where on the timeline */
	const struct track *track;
	uint64_t shown;
	struct resumption *next; /* another place of the code */
};

struct resumptions {
	bool lost;	    /* markers are missing: nothing is certain any more */
	struct map by_code; /* struct code -> struct resumption, the first of its places */
	struct map objects; /* address of an object -> struct resumption, its latest yield */
};

/* An object yields; the rest as below. */
int resumptions_yield_object(struct resumptions *w, const struct object *o, const struct track *track, uint64_t shown);

/* The latest yield of the object that is resumed; NULL: not known. */
const struct resumption *resumptions_resume_object(const struct resumptions *w, const struct object *o);

/*
 * An activation yields at `offset`. track: the track of its slice, `shown`: the slice's begin; NULL if not known. 0 or
 * -ENOMEM.
 */
int resumptions_yield(struct resumptions *w, const struct code *code, int64_t offset, const struct track *track,
		      uint64_t shown);

/* One is resumed, or thrown into, at `offset`. True, and the yield in *from, if it is certain. */
bool resumptions_resume(struct resumptions *w, const struct code *code, int64_t offset, struct resumption *from);

void resumptions_free(struct resumptions *w);
