/* SPDX-License-Identifier: MIT */
/*
 * witness.h - a process of our group that blocks all signals: those pending there were sent to the whole group.
 *
 * A signal says who sent it, not to whom. If kill(2) or a service manager sent it to the whole group, the target has
 * it, too, and it must not be passed on; if it was sent to the recorder alone, it must.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct witness {
	pid_t pid; /* 0, -1: there is none */
};

/*
 * Without one, for lack of processes, every signal counts as sent to us alone. It ends with this process at the latest.
 */
void witness_start(struct witness *w);

/* Was the signal, which we received, sent to the group? Once for each: the witness forgets it. */
bool witness_has(struct witness *w, int signal);

void witness_end(struct witness *w);
