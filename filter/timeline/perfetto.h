/* SPDX-License-Identifier: MIT */
/*
 * perfetto.h - the parts of a timeline event that depend on its code object or loop alone: members
 * of a JSON object, without braces. They are of type render_fn (rendered.h).
 *
 * What a slice is of is a code object, or of an import the code object that stands for its name (CODE_IMPORT_FILE).
 */
#pragma once

#include <stdio.h>

#include "code/codes.h"
#include "model/function.h"
#include "model/profile.h"

/* Of a struct code: the B and the E of an activation, and the instant that describes it. */
void perfetto_begin(FILE *f, const void *code);
void perfetto_end(FILE *f, const void *code);
void perfetto_code(FILE *f, const void *code);

/* Of a struct loop: a trip, with its args left open and empty. */
void perfetto_trip(FILE *f, const void *loop);

/* What the arg with a trip's cycles is called, by what counted them. Only a processor's own are called hardware's. */
enum perfetto_cycles { CYCLES_CORE, CYCLES_TSC, CYCLES_EMULATED, CYCLES_NS, PERFETTO_CYCLES };
extern const char *const perfetto_cycles[PERFETTO_CYCLES];
enum perfetto_cycles perfetto_cycles_of(const struct profile *p, const struct loop *loop);

/* Of the name of an opcode: a slice's name; of a struct code: its function, the first of its args. */
void perfetto_opcode(FILE *f, const void *name);
void perfetto_function(FILE *f, const void *code);

/* What names a thread or process: "thread_name" or "process_name", key "name"; or "process_labels", "labels". */
void perfetto_name(FILE *f, const char *what, const char *key, const char *name);

/* The values of a trigger: the data of take_snapshot(), and the stack, innermost first. A JSON object and an array. */
const char *perfetto_data(const struct snapshot *s);
void perfetto_stack(FILE *f, const struct snapshot *s);

/* Of a struct snapshot: the B, whose args are empty, and the E. */
void perfetto_snapshot_begin(FILE *f, const void *snapshot);
void perfetto_snapshot_end(FILE *f, const void *snapshot);

/*
 * What a slice is called: a function by its qualified name, the body of a module by the module, an import by what is
 * imported. malloc'ed; NULL: no memory.
 */
char *perfetto_title(const struct code *code);

/*
 * The category of an activation, "FILE:LINE", which viewers show where a slice is clicked, and the name
 * of a trip, "loop QUALNAME:LINE", or "+OFFSET" where the line is not known. malloc'ed; NULL: no memory.
 */
char *perfetto_place(const struct code *code);
char *perfetto_loop(const struct loop *loop);
