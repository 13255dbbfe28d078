// SPDX-License-Identifier: MIT
#include "rendered.h"

#include <stdint.h>
#include <stdlib.h>

static void rendered_free(struct rendered *p)
{
	free(p->text);
	free(p);
}

static struct rendered *make(const void *of, render_fn render)
{
	struct rendered *p = calloc(1, sizeof(*p));
	FILE *f = p ? open_memstream(&p->text, &p->length) : NULL;

	if (f)
		render(f, of);
	if (f && !fclose(f))
		return p;
	if (p)
		rendered_free(p);
	return NULL;
}

const struct rendered *rendered_get(struct map *texts, const void *of, render_fn render)
{
	struct rendered *p = map_get(texts, (uintptr_t)of);

	if (p)
		return p;
	p = make(of, render);
	if (p && map_put(texts, (uintptr_t)of, p)) {
		rendered_free(p);
		return NULL;
	}
	return p;
}

void rendered_free_all(struct map *texts)
{
	for (struct map_slot *s = NULL; (s = map_next(texts, s));)
		rendered_free(s->value);
	map_free(texts);
}
