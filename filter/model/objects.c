// SPDX-License-Identifier: MIT
/* The map's values are never NULL and never removed: at the address of what has ended there is `dead`. */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>

#include "function.h"
#include "nested.h"

static struct object dead;

/* Zeroed, but for room for loops. */
static struct object *fresh(struct objects *all)
{
	struct object *o = all->spare;

	if (!o)
		return calloc(1, sizeof(*o));
	all->spare = o->spare;
	*o = (struct object){ .held = { .loops = o->held.loops, .size = o->held.size } };
	return o;
}

static struct object *make(struct objects *all, struct code *code, uint64_t ns, bool older)
{
	struct function *fn = function_of(code);
	struct object *o = fn ? fresh(all) : NULL;

	if (!o)
		return NULL;
	o->serial = ++all->serials;
	o->code = code;
	o->begun_ns = ns;
	o->older = older;
	fn->objects++;
	fn->older_objects += older;
	return o;
}

/* A running one is its frame's, which will end it. */
static void drop(struct objects *all, struct object *o, bool seen)
{
	if (o == &dead) /* which other threads have, too */
		return;
	o->address = 0;
	if (o->running)
		return;
	loop_drop(&o->held, seen);
	nested_free(&o->spans);
	o->spare = all->spare;
	all->spare = o;
}

struct object *objects_begin(struct objects *all, struct code *code, uint64_t ns)
{
	return make(all, code, ns, false);
}

struct object *objects_find(const struct objects *all, uint64_t address)
{
	struct object *o = map_get(&all->by_address, address);

	return o == &dead ? NULL : o;
}

int objects_tell(struct objects *all, struct object *o, uint64_t address)
{
	struct object *before = map_get(&all->by_address, address);

	if (before && before != o)
		drop(all, before, before->epoch == all->epoch);
	o->address = address;
	return map_put(&all->by_address, address, o);
}

struct object *objects_at(struct objects *all, struct code *code, uint64_t address, uint64_t ns)
{
	struct object *o = map_get(&all->by_address, address);

	if (o && o->code == code && o->suspended && o->epoch == all->epoch)
		return o;
	o = make(all, code, ns, true);
	return o && !objects_tell(all, o, address) ? o : NULL;
}

void objects_end(struct objects *all, struct object *o, uint64_t ns, bool seen)
{
	struct function *fn = o->code->function;

	if (seen && !o->older) {
		fn->ended_objects++;
		fn->lifetime_ns += ns - o->begun_ns;
	}
	if (o->address)
		map_put(&all->by_address, o->address, &dead); /* there already: needs no memory */
	o->running = false;
	drop(all, o, seen);
}

void objects_free(struct objects *all)
{
	for (struct map_slot *s = NULL; (s = map_next(&all->by_address, s));)
		drop(all, s->value, false);
	map_free(&all->by_address);
	for (struct object *o; (o = all->spare); free(o)) {
		all->spare = o->spare;
		loop_free(&o->held);
	}
}
