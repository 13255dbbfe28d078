/* SPDX-License-Identifier: MIT */
/*
 * places.h - functions as files name them: one number for each file, first line and name, whichever processes have a
 * code object of it. Zeroed: none yet.
 */
#pragma once

#include "base/map.h"
#include "code/code.h"

struct places {
	struct map numbers;  /* struct code -> number + 1 */
	struct map names;    /* hash of a function's names -> the same */
	struct code **codes; /* [n]: the first one of each */
	uint32_t n, size;
};

/* The number of a function, which is added if it is new. Or -ENOMEM. */
int64_t places_number(struct places *p, struct code *code);

void places_free(struct places *p);
