// SPDX-License-Identifier: MIT
/*
 * With INSTRUCTION events a path is the instructions that ran, else the decisions (BRANCH events) and the back-edge.
 * What ran in an inner loop or a callee is not part of it, only that the loop was entered. If neither kind of event was
 * recorded, no path is known.
 *
 * With INSTRUCTION events a path begins where all trips pass (loop_nest.h: start). With BRANCH events it begins after a
 * back-edge, or when the loop is entered from outside.
 */
#include "sink_bridges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/function.h"
#include "base/map.h"
#include "code/loop_nest.h"
#include "model/paths.h"
#include "model/tstate.h"
#include "shared/array.h"

struct trail_frame {
	struct code *code;
	const struct loop_nest *nest; /* NULL: its bytecode is not known */
	struct way *ways;	      /* [nest->nloops] */
	uint32_t size;
	int32_t in;   /* the loop of the last step, or LOOP_NEST_NONE */
	bool whole;   /* it was seen from its beginning */
	bool stepped; /* there was an INSTRUCTION event */
	bool pending; /* of `next`, which belongs to the trip after the back-edge if one comes now */
	int64_t next;
};

/* Frames above nframes keep their memory. */
struct trail {
	struct tstate tstate;
	struct trail_frame *frames;
	uint32_t nframes, size;
};

struct bridges {
	struct sink sink;
	struct tstates trails;
	struct map nests; /* struct code -> struct loop_nest */
	uint8_t op;	  /* of the last sample */
};

static int no_memory(struct bridges *b)
{
	snprintf(b->sink.error, SINK_ERROR, "no memory for the paths of loops");
	return -ENOMEM;
}

static struct trail *trail_of(struct bridges *b, int32_t pid, int32_t tid, uint32_t interpreter)
{
	return tstate_of(&b->trails, pid, tid, interpreter, sizeof(struct trail));
}

static struct trail_frame *top_of(const struct trail *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static const struct loop_nest *loop_nest_of(struct bridges *b, struct code *code)
{
	struct loop_nest *n = map_get(&b->nests, (uintptr_t)code);

	if (n)
		return n;
	n = malloc(sizeof(*n));
	if (n && loop_nest_make(n, code)) {
		free(n);
		return NULL;
	}
	if (n && map_put(&b->nests, (uintptr_t)code, n)) {
		loop_nest_free(n);
		free(n);
		return NULL;
	}
	return n;
}

/* Loop `to` is reached from f->in, which it is not in: the loops around it record this. */
static void go_into(struct trail_frame *f, int32_t to)
{
	int32_t around = f->nest->loops[to].around;

	if (loop_nest_within(f->nest, f->in, to))
		return;
	if (!f->stepped)
		way_clear(&f->ways[to]);
	if (around == LOOP_NEST_NONE)
		return;
	go_into(f, around);
	way_step(&f->ways[around], f->nest->loops[to].head, SAMPLE_NOWHERE, 0);
}

/*
 * A step belongs to its loop. Behind the end of the last step's loop it may also be in an exception handler of that
 * loop: it counts for both, since a loop that was really left begins anew when it is entered again.
 */
static void step(struct trail_frame *f, int64_t offset, int64_t target)
{
	uint32_t i = code_index(f->code, offset);
	int32_t in = i < f->code->ninstrs ? f->nest->of[i] : LOOP_NEST_NONE;
	int32_t line = i < f->code->ninstrs ? f->code->instrs[i].line : 0;

	if (f->in != LOOP_NEST_NONE && f->in != in && loop_nest_within(f->nest, f->in, in) &&
	    offset > f->nest->loops[f->in].extent.end) {
		way_step(&f->ways[f->in], offset, target, line);
		if (in != LOOP_NEST_NONE)
			way_step(&f->ways[in], offset, target, line);
		return;
	}
	if (in != LOOP_NEST_NONE) {
		go_into(f, in);
		if (f->stepped && offset == f->nest->loops[in].start)
			way_clear(&f->ways[in]);
		way_step(&f->ways[in], offset, target, line);
	}
	f->in = in;
}

static void settle(struct trail_frame *f)
{
	if (f->pending)
		step(f, f->next, SAMPLE_NOWHERE);
	f->pending = false;
}

static bool is_decision(const struct sample *s)
{
	return s->op == OP_BRANCH || s->op == OP_BRANCH_LEFT || s->op == OP_BRANCH_RIGHT ||
	       (s->op == OP_JUMP && s->target <= s->offset);
}

static int bridges_sample(struct sink *sink, const struct sample *s)
{
	struct bridges *b = (struct bridges *)sink;
	struct trail *w = s->code ? trail_of(b, s->pid, s->tid, s->interpreter) : NULL;
	struct trail_frame *f = w ? top_of(w) : NULL;

	if (s->code && !w)
		return no_memory(b);
	b->op = s->op;
	if (!f || !f->nest || f->code != s->code)
		return 0;
	if (s->op == OP_INSTRUCTION && s->offset > s->code->entry) {
		settle(f);
		f->stepped = f->pending = true;
		f->next = s->offset;
	} else if (is_decision(s) && !f->stepped) {
		step(f, s->offset, s->target);
	}
	return 0;
}

static int grow_frames(struct trail *w)
{
	uint32_t before = w->size;

	if (!ARRAY_ROOM(w->frames, w->nframes, w->size))
		return -ENOMEM;
	memset(w->frames + before, 0, (w->size - before) * sizeof(*w->frames));
	return 0;
}

static int bridges_enter(struct sink *sink, const struct activation *a)
{
	struct bridges *b = (struct bridges *)sink;
	struct trail *w = trail_of(b, a->pid, a->tid, a->interpreter);
	const struct loop_nest *nest = loop_nest_of(b, a->code);
	struct trail_frame *f;

	if (!w || !nest || grow_frames(w))
		return no_memory(b);
	f = &w->frames[w->nframes];
	if (f->size < nest->nloops) {
		if (!ARRAY_RESIZE(f->ways, nest->nloops))
			return no_memory(b);
		f->size = nest->nloops;
	}
	*f = (struct trail_frame){ .code = a->code,
				   .nest = a->code->ninstrs ? nest : NULL,
				   .ways = f->ways,
				   .size = f->size,
				   .in = LOOP_NEST_NONE,
				   .whole = a->op == OP_PY_START };
	for (uint32_t i = 0; i < nest->nloops; i++)
		way_clear(&f->ways[i]);
	w->nframes++;
	return 0;
}

static int bridges_leave(struct sink *sink, const struct activation *a, enum leave_how how, uint64_t end_ns,
			 uint64_t end_cycles)
{
	struct bridges *b = (struct bridges *)sink;
	struct trail *w = trail_of(b, a->pid, a->tid, a->interpreter);

	(void)how;
	(void)end_ns;
	(void)end_cycles;
	if (!w)
		return no_memory(b);
	w->nframes -= w->nframes > 0;
	return 0;
}

/* Was the trip's path seen from its beginning? That before a suspension is forgotten. */
static bool is_whole(const struct trail_frame *f, int32_t i, const struct trip *t)
{
	if (f->stepped)
		return f->ways[i].steps && f->ways[i].start == f->nest->loops[i].start;
	return t->number > 1 ? !t->suspensions : f->whole;
}

static int bridges_iterate(struct sink *sink, const struct trip *t)
{
	struct bridges *b = (struct bridges *)sink;
	struct trail *w = trail_of(b, t->in->pid, t->in->tid, t->in->interpreter);
	struct trail_frame *f = w ? top_of(w) : NULL;
	int32_t i = f && f->nest ? loop_nest_find(f->nest, t->loop->head) : LOOP_NEST_NONE;

	if (!t->loop->paths)
		t->loop->paths = calloc(1, sizeof(*t->loop->paths));
	if (!w || !t->loop->paths)
		return no_memory(b);
	if (f && f->nest && b->op != OP_INSTRUCTION)
		settle(f);
	paths_add(t->loop->paths, i != LOOP_NEST_NONE && is_whole(f, i, t) ? &f->ways[i] : NULL, t->timed, t->ns,
		  t->cycles);
	if (i != LOOP_NEST_NONE)
		way_clear(&f->ways[i]);
	return 0;
}

static void release(struct tstate *tstate)
{
	struct trail *w = (struct trail *)tstate;

	for (uint32_t i = 0; i < w->size; i++)
		free(w->frames[i].ways);
	free(w->frames);
}

static void bridges_free(struct sink *sink)
{
	struct bridges *b = (struct bridges *)sink;

	for (struct map_slot *slot = NULL; (slot = map_next(&b->nests, slot));) {
		loop_nest_free(slot->value);
		free(slot->value);
	}
	tstates_free(&b->trails, release);
	map_free(&b->nests);
	free(b);
}

static const struct sink_ops bridges_ops = {
	.sample = bridges_sample,
	.enter = bridges_enter,
	.leave = bridges_leave,
	.iterate = bridges_iterate,
	.free = bridges_free,
};

int sink_bridges_open(struct sink **out, const struct sink_options *o, char *error)
{
	struct bridges *b = calloc(1, sizeof(*b));

	(void)o;
	if (!b) {
		snprintf(error, SINK_ERROR, "no memory for the paths of loops");
		return -ENOMEM;
	}
	b->sink.ops = &bridges_ops;
	*out = &b->sink;
	return 0;
}
