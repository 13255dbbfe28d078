/* SPDX-License-Identifier: MIT */
/*
 * uvloop.h - the event loop of uvloop, which is no Python code: what it is told to call, and when it calls it.
 *
 * While its interpreter is traced, those of its methods through which all of it passes, also what asyncio's code in C
 * does, come through here: by the addresses in their definitions, so that they are the same objects as before. When
 * it enters a context is seen by its global offset table (got.h).
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

struct codes;

/* Is it there? To be asked at the start, and after imports; by any thread. */
void uvloop_look(struct codes *c);

/* Its functions are its own again; calls under way go on. */
void uvloop_stop(struct codes *c);

/* Is it seen when a context is entered? Not on a processor whose relocations are not known. */
bool uvloop_enters(void);
