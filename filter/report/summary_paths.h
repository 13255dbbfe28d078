/* SPDX-License-Identifier: MIT */
/* summary_paths.h - the paths of a loop's trips as JSON. */
#pragma once

#include <jansson.h>

#include "model/profile.h"

/* docs/summary.md, "paths"; null if they were not asked for or are not known. NULL: no memory. */
json_t *summary_paths(const struct profile *p, const struct loop *loop);
