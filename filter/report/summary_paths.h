/* SPDX-License-Identifier: MIT */
/* summary_paths.h - the paths of a loop's trips as JSON. */
#pragma once

#include "base/value.h"
#include "model/profile.h"

/* docs/summary.md, "paths"; null if they were not asked for or are not known. NULL: no memory. */
struct value *summary_paths(const struct profile *p, const struct loop *loop);
