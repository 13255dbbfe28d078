/* SPDX-License-Identifier: MIT */
/*
 * apart.h - processes whose threads were analysed apart, each in one of several traces.
 *
 * What threads of a process have in common in the order of time must not have mattered: who had the GIL, and what is
 * suspended and may go on in any of them. It is seen at the end whether it did.
 */
#pragma once

#include "trace.h"

/* Are threads of that process in several of these traces (trace.next)? */
bool apart_is(const struct trace *first, int32_t pid);

/* Before the threads end. 0; -EAGAIN: some of one process must be analysed together. */
int apart_check(const struct trace *first);
