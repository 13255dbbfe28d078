/* SPDX-License-Identifier: MIT */
/*
 * named.h - the program's own source files, which the code tables name, as SOURCE_FILE (base/source.h): where a packed
 * recording is read, they may not be, or be others.
 */
#pragma once

#include <stdio.h>

#include "about.h"

/*
 * Writes to `to` those of a folder's code tables that lie in no library and have not changed since the run. Returns how
 * many, or -ENOMEM.
 */
int named_sources(FILE *to, int folder, const struct about *a);
