/* SPDX-License-Identifier: MIT */
/* summary_forms.h - how instructions changed their forms, for the summary (docs/summary.md). NULL: no memory. */
#pragma once

#include "base/value.h"
#include "model/profile.h"

/* null: no instruction has its form. */
struct value *summary_forms(const struct profile *p);
