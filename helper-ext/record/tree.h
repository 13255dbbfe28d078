/* SPDX-License-Identifier: MIT */
/*
 * tree.h - who is left of the processes that a command has started, once it has ended itself.
 *
 * A process that joined the recording is known. A fork joins with its first event, and may sleep until then: it is
 * found in /proc by our extension in its memory and by the recording's folder in its environment. A Python that has
 * only just been started has no extension yet, and may never have. Other programs are not waited for.
 */
#ifndef OCULAR_TREE_H
#define OCULAR_TREE_H

#include <stddef.h>

#include "process.h"

/* Those that joined and have not ended, up to `most` pids; how many. */
size_t tree_joined(const struct processes *ps, uint32_t *pids, size_t most);

/*
 * Those that will join, likewise: asked when nobody is left who has. started: and Pythons without extension. What /proc
 * does not show is not there.
 */
size_t tree_beginning(const char *dir, bool started, uint32_t *pids, size_t most);

/* "PID NAME, PID NAME", of as many as there is room for. */
void tree_names(const uint32_t *pids, size_t n, char *text, size_t size);

#endif
