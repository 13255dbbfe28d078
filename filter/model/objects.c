// SPDX-License-Identifier: MIT
/* The map's values are never NULL and never removed: what has ended, or is something else now, has another address. */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>

#include "function.h"
#include "nested.h"

static struct object *spare(struct objects *all)
{
	struct object *o = all->spare;

	if (o)
		all->spare = o->spare;
	return o ?: aligned_alloc(_Alignof(struct object), sizeof(*o));
}

/* Member by member: assigned as one value it would first be zeroed by a loop. */
static void begin(struct object *o, struct code *code, uint64_t ns, bool older)
{
	o->code = code;
	o->address = 0;
	o->task = NULL;
	o->older = older;
	o->asked = o->running = o->suspended = false;
	o->epoch = 0;
	o->since_ns = 0;
	o->spans = NULL;
	o->held = (struct held_loops){ 0 };
	o->awaits = NULL;
	o->awaiter = (struct awaiter){ 0 };
	o->begun_ns = ns;
	o->eager = (struct eager){ 0 };
	o->called = (struct called){ 0 };
	o->then = NULL;
}

static struct object *make(struct objects *all, struct code *code, uint64_t ns, bool older)
{
	struct function *fn = function_of(code);
	struct object *o = fn ? spare(all) : NULL;

	if (!o)
		return NULL;
	begin(o, code, ns, older);
	o->serial = ++all->serials;
	fn->objects++;
	fn->older_objects += older;
	return o;
}

/* A running one is its frame's, which will end it. */
static void drop(struct objects *all, struct object *o, bool seen)
{
	o->address = 0;
	if (o->running)
		return;
	if (o->held.outermost)
		loop_drop(&o->held, seen);
	nested_free(&o->spans);
	o->spare = all->spare;
	all->spare = o;
}

/* It has its address no more. What began before this analysis is in `adopted`. */
static void keep_life(struct objects *all, const struct object *o, uint64_t last_ns, bool ended)
{
	if (all->lives && o->address && !o->older)
		lives_add(all->lives, &(struct life){ o->address, o->begun_ns, last_ns, NULL, ended });
}

void objects_replaced(struct objects *all, struct object *o)
{
	drop(all, o, o->epoch == all->epoch);
}

struct object *objects_begin(struct objects *all, struct code *code, uint64_t ns)
{
	return make(all, code, ns, false);
}

int objects_tell(struct objects *all, struct object *o, uint64_t address)
{
	struct map_slot *s = map_place(&all->by_address, address);
	struct object *before = s ? s->value : NULL;

	if (!s)
		return -ENOMEM;
	s->value = o;
	if (before != o && object_is_at(before, address)) {
		keep_life(all, before, object_last_ns(before), false);
		objects_replaced(all, before);
	}
	o->address = address;
	return 0;
}

struct object *objects_at(struct objects *all, struct code *code, uint64_t address, uint64_t ns)
{
	struct object *o = objects_find(all, address);

	if (o && o->code == code && o->suspended && o->epoch == all->epoch)
		return o;
	o = make(all, code, ns, true);
	return o && !map_put(&all->adopted, address, o) && !objects_tell(all, o, address) ? o : NULL;
}

void objects_end(struct objects *all, struct object *o, uint64_t ns, bool seen)
{
	struct function *fn = o->code->function;

	if (seen && !o->older) {
		fn->ended_objects++;
		fn->lifetime_ns += ns - o->begun_ns;
	}
	keep_life(all, o, ns, seen);
	o->running = false;
	drop(all, o, seen);
}

void objects_free(struct objects *all)
{
	for (struct map_slot *s = NULL; (s = map_next(&all->by_address, s));)
		if (object_is_at(s->value, s->key))
			drop(all, s->value, false);
	map_free(&all->by_address);
	map_free(&all->adopted);
	if (all->lives)
		lives_free(all->lives);
	free(all->lives);
	all->lives = NULL;
	for (struct object *o; (o = all->spare); free(o))
		all->spare = o->spare;
}
