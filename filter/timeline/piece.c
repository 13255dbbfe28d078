// SPDX-License-Identifier: MIT
#include "piece.h"

#include <stdint.h>
#include <stdlib.h>

static void piece_free(struct piece *p)
{
	free(p->text);
	free(p);
}

static struct piece *make(const void *of, piece_render render)
{
	struct piece *p = calloc(1, sizeof(*p));
	FILE *f = p ? open_memstream(&p->text, &p->length) : NULL;

	if (f)
		render(f, of);
	if (f && !fclose(f))
		return p;
	if (p)
		piece_free(p);
	return NULL;
}

const struct piece *piece_get(struct map *pieces, const void *of, piece_render render)
{
	struct piece *p = map_get(pieces, (uintptr_t)of);

	if (p)
		return p;
	p = make(of, render);
	if (p && map_put(pieces, (uintptr_t)of, p)) {
		piece_free(p);
		return NULL;
	}
	return p;
}

void piece_free_all(struct map *pieces)
{
	for (struct map_slot *s = NULL; (s = map_next(pieces, s));)
		piece_free(s->value);
	map_free(pieces);
}
