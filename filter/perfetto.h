/* SPDX-License-Identifier: MIT */
/*
 * perfetto.h - the parts of a timeline event that depend on its code object or loop alone: members
 * of a JSON object, without braces. They are of type piece_render (piece.h).
 */
#ifndef OCULAR_PERFETTO_H
#define OCULAR_PERFETTO_H

#include <stdio.h>

/* Of a struct code: the B and the E of an activation, and the instant that tells all about it. */
void perfetto_begin(FILE *f, const void *code);
void perfetto_end(FILE *f, const void *code);
void perfetto_code(FILE *f, const void *code);

/* Of a struct loop: the instant of a trip, with its args left open and empty. */
void perfetto_trip(FILE *f, const void *loop);

/* A whole event that names a thread or process: ids as in an event, what is "thread_name" or so. */
void perfetto_name(FILE *f, const char *ids, const char *what, const char *name);

#endif
