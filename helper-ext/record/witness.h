/* SPDX-License-Identifier: MIT */
/*
 * witness.h - a process of our group that blocks all signals: what is pending there was sent to the whole group.
 *
 * A signal says who sent it, not to whom. One that kill(2) or a service manager sent to everybody the target has, too,
 * and must not be passed on; one that was sent to the recorder alone must.
 */
#ifndef OCULAR_WITNESS_H
#define OCULAR_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct witness {
	pid_t pid; /* 0, -1: there is none */
};

/* Without one, for want of processes, every signal is taken for ours alone. It ends with this process at the latest. */
void witness_start(struct witness *w);

/* Was the signal, which we have got, sent to the group? Once for each: the witness forgets it. */
bool witness_has(struct witness *w, int signal);

void witness_end(struct witness *w);

#endif
