/* SPDX-License-Identifier: MIT */
/*
 * tree.h - which processes that a command started are left after its own end.
 *
 * A process that joined the recording is known. A fork joins with its first event, and may sleep until then: /proc
 * shows our extension in its memory and the recording's folder in its environment. A Python that has only just been
 * started has no extension yet, and may never have. Other programs are not waited for.
 */
#pragma once

#include <stddef.h>

#include "process.h"

/* Those that joined and have not ended, up to `most` pids; how many. */
size_t tree_joined(const struct processes *ps, uint32_t *pids, size_t most);

/*
 * Those that will join, likewise: used when none is left that has joined. started: also Pythons without the extension.
 * Processes hidden in /proc are left out.
 */
size_t tree_beginning(const char *dir, bool started, uint32_t *pids, size_t most);

/* "PID NAME, PID NAME", as many as there is room for. */
void tree_names(const uint32_t *pids, size_t n, char *text, size_t size);
