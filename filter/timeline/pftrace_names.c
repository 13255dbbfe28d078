// SPDX-License-Identifier: MIT
/* Texts become UTF-8 once: Python's may hold surrogates. */
#include "pftrace_names.h"

#include <stdlib.h>

#include "perfetto.h"
#include "base/text.h"

static struct pftrace_name *make_name(struct pftrace_names *names, const void *of, char *name, char *category,
				      bool has_category)
{
	struct pftrace_name *n = calloc(1, sizeof(*n));

	if (n && name && (category || !has_category)) {
		*n = (struct pftrace_name){ names->first + names->map.used, name, category };
		if (!map_put(&names->map, (uintptr_t)of, n))
			return n;
	}
	free(n);
	free(name);
	free(category);
	return NULL;
}

const struct pftrace_name *pftrace_code_name(struct pftrace_names *names, const struct code *code)
{
	struct pftrace_name *n = map_get(&names->map, (uintptr_t)code);
	char *place, *category;

	if (n)
		return n;
	place = perfetto_place(code);
	category = place ? text_utf8(place) : NULL;
	free(place);
	return make_name(names, code, text_utf8(code->qualname), category, true);
}

const struct pftrace_name *pftrace_loop_name(struct pftrace_names *names, const struct loop *loop)
{
	struct pftrace_name *n = map_get(&names->map, (uintptr_t)loop);
	char *text, *name;

	if (n)
		return n;
	text = perfetto_loop(loop);
	name = text ? text_utf8(text) : NULL;
	free(text);
	return make_name(names, loop, name, NULL, false);
}

void pftrace_names_free(struct pftrace_names *names)
{
	for (struct map_slot *s = NULL; (s = map_next(&names->map, s));) {
		struct pftrace_name *n = s->value;

		free(n->name);
		free(n->category);
		free(n);
	}
	map_free(&names->map);
}
