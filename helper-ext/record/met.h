/* SPDX-License-Identifier: MIT */
/*
 * met.h - threads that have said that they will write into a ring: their switches, from that moment on, as long as
 * they do not belong to a ring. In flight mode they never do, because nobody reads what the ring says.
 */
#pragma once

#include <stdint.h>

#include "switches.h"

struct met {
	struct met *next;
	uint32_t pid, tid;
	struct switches switches;
	uint64_t ended_ns; /* when met_forget() found it to have ended; 0: it lives */
};

/*
 * Meets a thread; with switches that newer ones overwrite, or with some that are to be taken, and with hz samples a
 * second (0: none), or without if only these cannot be had; roomy: as in switches_open_sampled(). 0 or a negative
 * errno: they cannot be seen (switches_open()).
 */
int met_add(struct met **all, uint32_t pid, uint32_t tid, bool overwritten, uint32_t hz, bool roomy);

/* Takes it out. Its switches, zeroed if it was not met or they cannot be seen; the caller closes them. */
struct switches met_take(struct met **all, uint32_t pid, uint32_t tid);

/* Forgets those that have ended before a previous call, and that call was before `ns`. */
void met_forget(struct met **all, uint64_t now_ns, uint64_t ns);

/* Forgets those of a process, pid 0: all. */
void met_drop(struct met **all, uint32_t pid);
