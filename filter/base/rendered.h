/* SPDX-License-Identifier: MIT */
/*
 * rendered.h - text that depends on one object alone, rendered once and then copied.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "map.h"

struct rendered {
	char *text;
	size_t length;
};

typedef void (*render_fn)(FILE *f, const void *of);

/* The text of `of` in `texts`, rendered if it is new. NULL: no memory. */
const struct rendered *rendered_get(struct map *texts, const void *of, render_fn render);

/* Copies it to `to`, where p->length bytes of room are, and returns the end. */
static inline char *rendered_put(char *to, const struct rendered *p)
{
	return mempcpy(to, p->text, p->length);
}

void rendered_free_all(struct map *texts);
