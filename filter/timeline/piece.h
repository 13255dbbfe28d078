/* SPDX-License-Identifier: MIT */
/*
 * piece.h - text that depends on one object alone, rendered at first sight and copied ever after.
 */
#ifndef OCULAR_PIECE_H
#define OCULAR_PIECE_H

#include <stdio.h>
#include <string.h>

#include "base/map.h"

struct piece {
	char *text;
	size_t length;
};

typedef void (*piece_render)(FILE *f, const void *of);

/* The piece of `of` among `pieces`, rendered if it is new. NULL: no memory. */
const struct piece *piece_get(struct map *pieces, const void *of, piece_render render);

/* Copies it to `to`, where p->length bytes of room are, and returns the end. */
static inline char *piece_put(char *to, const struct piece *p)
{
	return mempcpy(to, p->text, p->length);
}

void piece_free_all(struct map *pieces);

#endif
