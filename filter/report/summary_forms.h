/* SPDX-License-Identifier: MIT */
/* summary_forms.h - how instructions changed their forms, for the summary (docs/summary.md). NULL: no memory. */
#pragma once

#include <jansson.h>

#include "model/profile.h"

/* null: no instruction has its form. */
json_t *summary_forms(const struct profile *p);
