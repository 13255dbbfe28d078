/* SPDX-License-Identifier: MIT */
/*
 * opening.h - the part of a trace that a viewer is to open at: what the program's module does when its imports are
 * over.
 *
 * The module is the outermost one of the program's own in the main thread of the first process: python calls it, or
 * runpy. Of what it calls itself the longest is its main function, unless that is less than half of what comes after
 * its last import: then it is all of that.
 */
#pragma once

#include "model/sink.h"

struct opening {
	const struct code *module; /* NULL: none yet */
	int32_t pid;
	uint32_t depth;	      /* of its activation, */
	bool open;	      /* which is not over */
	uint64_t imported_ns; /* its last import ended then; its beginning, if there was none */
	uint64_t end_ns;
	uint64_t from_ns, until_ns; /* of its longest call */
};

/* As opening_enter and opening_leave, of what may concern it. */
void opening_look(struct opening *o, const struct codes *codes, const struct activation *a);
void opening_left(struct opening *o, const struct codes *codes, const struct activation *a, uint64_t end_ns);

/* Of the sink (model/sink.h). Modules that it imports have their bodies further in: most activations end here. */
static inline void opening_enter(struct opening *o, const struct codes *codes, const struct activation *a)
{
	if (a->pid == a->tid && (!o->module || (a->pid == o->pid && a->depth < o->depth && !o->open)))
		opening_look(o, codes, a);
}
static inline void opening_leave(struct opening *o, const struct codes *codes, const struct activation *a,
				 uint64_t end_ns)
{
	if (o->open && a->pid == o->pid && a->tid == o->pid && a->depth <= o->depth + 1)
		opening_left(o, codes, a, end_ns);
}

/* At the end. False: there is no such part. */
bool opening_span(const struct opening *o, uint64_t *from_ns, uint64_t *until_ns);
