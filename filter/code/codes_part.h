/* SPDX-License-Identifier: MIT */
/*
 * codes_part.h - some processes of the code tables, for an analysis of these alone in another thread.
 *
 * A process is lent as it is, if no other part needs its code; else its parts get copies, which share everything but
 * what an analysis counts: a forked process runs the code objects of its parent, and threads of a process may be apart.
 */
#pragma once

#include "codes.h"

/*
 * Which part a process is of, or its main thread; those that nobody reads are of part 0, which is `all` itself. has: is
 * it of that part, or a thread of it; several: are its threads of different ones.
 */
struct codes_parts {
	unsigned (*of)(const void *to, int32_t pid);
	bool (*has)(const void *to, int32_t pid, unsigned number);
	bool (*several)(const void *to, int32_t pid);
	const void *to;
};

/*
 * `part` gets what part `number` needs. All tables were read, and nothing reads any until it is given back. 0 or
 * -ENOMEM; codes_part_free() after either.
 */
int codes_lend(struct codes *all, struct codes *part, const struct codes_parts *parts, unsigned number);

/*
 * Its analysis is over: what was counted of its processes is added to `all`, but for totals of code objects. 0;
 * -ENOMEM; -EAGAIN: a process, or a code object of a forked process's parent, is in no table: all must be analysed
 * together.
 */
int codes_give_back(struct codes *all, struct codes *part);

/* The code object of `all` that stands for one of a part that was given back. NULL: no memory. */
struct code *codes_same(const struct code *code);

/* Frees the copies, and nothing that was lent. */
void codes_part_free(struct codes *all, struct codes *part);
