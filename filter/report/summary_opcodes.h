/* SPDX-License-Identifier: MIT */
/* summary_opcodes.h - opcodes and pairs for the summary: docs/summary.md. */
#pragma once

#include "base/value.h"
#include "model/opcodes.h"

/* Of the whole program, a function, a loop. NULL: no memory. */
struct value *summary_opcodes(const struct profile *p);
struct value *summary_function_opcodes(const struct profile *p, const struct code *code);
struct value *summary_loop_opcodes(const struct profile *p, const struct loop *loop);
