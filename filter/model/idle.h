/* SPDX-License-Identifier: MIT */
/*
 * idle.h - threads and processes of a pool that have nothing to do: they wait for a job, and nobody waits for them.
 *
 * Such a wait is told as what it is made of, a lock or a read; it would be the longest of a program with an idle pool.
 */
#pragma once

#include <stdbool.h>

#include "stack.h"

/* Is the innermost function of the stack where a worker takes its next job? */
bool idle_is_worker(const struct stack *s);
