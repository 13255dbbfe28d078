/* SPDX-License-Identifier: MIT */
/* texts.h - different texts, numbered from 0 in the order in which they come. Zeroed: none yet. */
#pragma once

#include "base/map.h"

struct texts {
	struct map numbers; /* hash -> number + 1 */
	const char **of;    /* [n]; not copies: they outlive this */
	uint32_t n, size;
};

/* The number of a text, which is added if it is new. Or -ENOMEM. */
int64_t texts_number(struct texts *t, const char *text);

/* The same, or -1: it is not there. */
int64_t texts_find(const struct texts *t, const char *text);

void texts_free(struct texts *t);
