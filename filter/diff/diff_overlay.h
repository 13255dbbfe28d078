/* SPDX-License-Identifier: MIT */
/*
 * diff_overlay.h - the distributions of both sides over one logarithmic axis, as an inline SVG: B's filled, A's an
 * outline. Where only the mean and the deviation are known, as of functions, these: a line of one deviation to either
 * side of a mark.
 */
#pragma once

#include <stdio.h>

#include "diff.h"

/* scale: cycles of A that equal one of B. Nothing if there is nothing to show. */
void diff_overlay(FILE *f, const struct diff_pair *pair, double scale);
