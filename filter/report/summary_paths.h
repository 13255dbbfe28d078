/* SPDX-License-Identifier: MIT */
/* summary_paths.h - the paths of a loop's trips as JSON. */
#ifndef OCULAR_SUMMARY_PATHS_H
#define OCULAR_SUMMARY_PATHS_H

#include <jansson.h>

#include "model/profile.h"

/* docs/summary.md, "paths"; null if they were not asked for or are not known. NULL: no memory. */
json_t *summary_paths(const struct profile *p, const struct loop *loop);

#endif
