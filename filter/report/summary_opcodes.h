/* SPDX-License-Identifier: MIT */
/* summary_opcodes.h - opcodes and pairs for the summary: docs/summary.md. */
#pragma once

#include <jansson.h>

#include "model/opcodes.h"

/* Of the whole program, a function, a loop. NULL: no memory. */
json_t *summary_opcodes(const struct profile *p);
json_t *summary_function_opcodes(const struct profile *p, const struct code *code);
json_t *summary_loop_opcodes(const struct profile *p, const struct loop *loop);
