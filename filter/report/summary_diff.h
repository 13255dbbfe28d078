/* SPDX-License-Identifier: MIT */
/*
 * summary_diff.h - what a summary has with for_diff=yes only, for the page of `ocular diff --html`: a summary that is
 * passed on is to have no source in it unless that was asked for. docs/summary.md. All: NULL, no memory.
 */
#pragma once

#include "base/source.h"
#include "base/value.h"
#include "flame.h"

/* "call_tree": the paths of flame.h, and what each has of its own. */
struct value *summary_call_tree(const struct profile *p, const struct calltree *tree);

/* "cycles_distribution" of a loop. */
struct value *summary_cycles(const struct loop *loop);

#define SUMMARY_SOURCES	     300 /* functions with source; most self time first */
#define SUMMARY_SOURCE_LINES 400 /* of one */

/*
 * "source" of a function of the program's own, or of site-packages: its lines, or why there are none. *n counts those
 * with lines.
 */
struct value *summary_source(struct sources *sources, const struct profile *p, const struct code *code, unsigned *n);
