/* SPDX-License-Identifier: MIT */
/* dispatch_read.c - see dispatch_read.h. What an incomplete table lacks is not a handler. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch_read.h"

static bool read_bases(json_t *o, uint8_t base[256])
{
	json_t *v, *bases = json_object_get(o, "base");
	size_t i;

	json_array_foreach (bases, i, v)
		if (i < 256)
			base[i] = json_integer_value(v);
	return json_array_size(bases) == 256;
}

/* Opcodes first, the compiler's before the interpreter's: the first at a handler counts. How many found no room. */
static unsigned add_handlers(struct dispatch *d, json_t *o)
{
	json_t *v, *targets = json_object_get(o, "targets");
	int64_t unused = json_integer_value(json_object_get(o, "unused"));
	unsigned left = 0;
	size_t i;

	for (int own = 1; own >= 0; own--)
		json_array_foreach (targets, i, v)
			if (i < 256 && json_integer_value(v) != unused && (d->base[i] == i) == own)
				left += dispatch_add(d, json_integer_value(v), DISPATCH_OP, i) != 0;
	json_array_foreach (json_object_get(o, "again"), i, v)
		left += dispatch_add(d, json_integer_value(v), DISPATCH_AGAIN, 0) != 0;
	return left;
}

int dispatch_read(struct dispatch **to, json_t *o, char *const names[256], uint64_t *left)
{
	struct dispatch *d = *to;
	uint8_t base[256];
	json_t *v;
	size_t i;

	if (!o || !read_bases(o, base))
		return 0;
	if (!d && !(d = calloc(1, sizeof(*d))))
		return -ENOMEM;
	if (!*to)
		dispatch_init(d, base, names);
	*to = d;
	if (memcmp(d->base, base, sizeof(base))) {
		*left += json_array_size(json_object_get(o, "targets"));
		return 0;
	}
	json_array_foreach (json_object_get(o, "pairs"), i, v)
		d->pair[json_integer_value(v) & 255] = true;
	*left += add_handlers(d, o);
	return 0;
}
