// SPDX-License-Identifier: MIT
#include "critical.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

const char *critical_kind_name(enum critical_kind kind)
{
	static const char *const names[] = {
#define P(kind, name) [CRITICAL_##kind] = name,
		CRITICAL_KINDS(P)
#undef P
	};

	return names[kind];
}

/* What waits for a step's work: its thread in a stall, or, without one, where it is suspended. Zeroed: nothing. */
struct waiter {
	const struct step *step;
	const struct stall *stall;
};

/* A part of the path that is not known yet: this step worked at `until`. */
struct part {
	uint64_t number;
	struct waiter waiter;
	uint64_t since, until;
	bool resumed;		   /* the end of its work is in the path already: */
	const struct stall *stall; /* it goes on with this stall, or NULL: there is none */
};

/* What is looked for, from its end backwards; the last part first. */
struct search {
	struct critical *out;
	const struct steps *steps;
	struct part *left;
	size_t n, room;
};

static bool is_same(const struct critical_piece *a, const struct critical_piece *b)
{
	return a->kind == b->kind && a->of == b->of && a->what == b->what && a->by == b->by && a->wait == b->wait &&
	       a->tid == b->tid && a->called.name == b->called.name && a->called.number == b->called.number;
}

static int add(struct critical *c, const struct critical_piece *p)
{
	if (!p->ns)
		return 0;
	if (c->n && is_same(&c->pieces[c->n - 1], p)) {
		c->pieces[c->n - 1].ns += p->ns;
		return 0;
	}
	if (!ARRAY_ROOM(c->pieces, c->n, c->room))
		return -ENOMEM;
	c->pieces[c->n++] = *p;
	return 0;
}

static uint64_t within(uint64_t ns, uint64_t low, uint64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

static int add_of(const struct search *f, const struct step *s, enum critical_kind kind, uint64_t ns)
{
	const struct critical_piece p = {
		.kind = kind, .of = s->kind, .called = s->called, .what = s->what, .tid = s->tid, .ns = ns
	};

	return add(f->out, &p);
}

static int add_awaiting(const struct search *f, const struct step *s, uint64_t ns)
{
	const struct critical_piece p = { .kind = CRITICAL_AWAITING,
					  .of = s->kind,
					  .called = s->called,
					  .what = s->where,
					  .by = s->by,
					  .tid = s->tid,
					  .ns = ns };

	return add(f->out, &p);
}

static int add_unknown(const struct search *f, uint64_t ns)
{
	return add(f->out, &(struct critical_piece){ .kind = CRITICAL_UNKNOWN, .ns = ns });
}

static int add_blocked(const struct search *f, const struct step *s, const struct stall *b, uint64_t ns)
{
	const struct critical_piece p = { .kind = CRITICAL_BLOCKED,
					  .of = s->kind,
					  .called = s->called,
					  .what = b->where,
					  .by = b->by == b->where ? NULL : b->by,
					  .wait = b->kind,
					  .tid = s->tid,
					  .ns = ns };

	return add(f->out, &p);
}

/* Is it known who ended the wait, within that time? At its very end is too late: see critical_find(). */
static bool is_followed(const struct stall *b, uint64_t from, uint64_t to)
{
	return b->done_by && b->done_ns > from && b->done_ns < to;
}

/* No waits are known there; where they may be forgotten, nothing is known. */
static int add_rest(const struct search *f, const struct step *s, uint64_t since, uint64_t until)
{
	uint64_t known = within(f->steps->stalls.forgotten_ns, since, until);

	return add_of(f, s, CRITICAL_RUNNING, until - known) ?: add_unknown(f, known - since);
}

/*
 * What its thread waited for is told apart. Ends early at a wait that is followed, *followed, of which it has the end:
 * after others had done what it waited for.
 */
static int add_running(const struct search *f, const struct step *s, const struct part *in, uint64_t since,
		       const struct stall **followed)
{
	const struct stalls *stalls = &f->steps->stalls;
	uint64_t until = in->until;
	int err = 0;

	for (const struct stall *b = in->resumed ? in->stall : stalls_newest(stalls, s->pid, s->tid);
	     !err && b && b->until_ns > since; b = stalls_before(stalls, b)) {
		uint64_t from = within(b->from_ns, since, until), to = within(b->until_ns, from, until);

		*followed = is_followed(b, from, to) ? b : NULL;
		err = add_of(f, s, CRITICAL_RUNNING, until - to);
		err = err ?: add_blocked(f, s, b, to - (*followed ? b->done_ns : from));
		until = from;
		if (*followed)
			return err;
	}
	return err ?: add_rest(f, s, since, until);
}

/* Looked at later than what is looked at already. */
static int look_at(struct search *f, const struct part *part)
{
	if (!ARRAY_ROOM(f->left, f->n, f->room))
		return -ENOMEM;
	f->left[f->n++] = *part;
	return 0;
}

/* What is not known to be let go on by anyone. */
static int add_nobodys(struct search *f, struct waiter who, uint64_t ns)
{
	if (who.stall)
		return add_blocked(f, who.step, who.stall, ns);
	return who.step->where ? add_awaiting(f, who.step, ns) : add_unknown(f, ns);
}

/* It waited from `since` to `until`, and then began. What nobody is known to end is told of where it was awaited. */
static int add_wait(struct search *f, const struct step *s, const struct part *in, uint64_t since, uint64_t until)
{
	uint64_t ready = s->ready_ns ? within(s->ready_ns, since, until) : until;
	struct waiter who = s->where || !in->waiter.step ? (struct waiter){ s, NULL } : in->waiter;
	struct part by = { .number = s->ready_by, .waiter = who, .since = since, .until = ready };
	int err = add_of(f, s, CRITICAL_READY, until - ready);

	if (err || ready == since)
		return err;
	if (by.number && by.number < in->number) /* else it is damaged */
		return look_at(f, &by);
	return add_nobodys(f, who, ready - since);
}

/* The step waited, and had worked before: both are left. */
static int follow(struct search *f, const struct step *s, const struct part *in, const struct stall *b, uint64_t begun)
{
	uint64_t from = b->from_ns > begun ? b->from_ns : begun;
	struct part rest = *in;
	struct part by = { .number = b->done_by, .waiter = { s, b }, .since = from, .until = b->done_ns };

	rest.until = from;
	rest.resumed = true;
	rest.stall = stalls_before(&f->steps->stalls, b);
	return look_at(f, &rest) ?: look_at(f, &by);
}

/* The last step of a part; the rest of it, and what the step waited for, are left. */
static int go_back(struct search *f, struct part in)
{
	const struct step *s = steps_get(f->steps, in.number);
	const struct stall *followed = NULL;
	struct part before = { .waiter = in.waiter, .since = in.since };
	uint64_t begun;
	int err;

	if (!s)
		return add_unknown(f, in.until - in.since);
	begun = within(s->begun_ns, in.since, in.until);
	err = add_running(f, s, &in, begun, &followed);
	if (err || followed)
		return err ?: follow(f, s, &in, followed, begun);
	before.number = s->before < in.number ? s->before : 0;
	before.until = within(s->suspended_ns, in.since, begun);
	if (before.until > in.since)
		err = look_at(f, &before);
	return err ?: add_wait(f, s, &in, before.until, begun);
}

static void turn_round(struct critical *c)
{
	for (size_t i = 0; i < c->n / 2; i++) {
		struct critical_piece p = c->pieces[i];

		c->pieces[i] = c->pieces[c->n - 1 - i];
		c->pieces[c->n - 1 - i] = p;
	}
}

/*
 * It ends, whatever the trace says: each part that a part leaves comes before it. It ends earlier, or at the same time
 * and is of a step with a lower number. If a wait is followed, the part of what ended it ends earlier (is_followed()),
 * and so does the rest. What let a step begin, and the step before it, end no later; their numbers are lower. Parts
 * that one part leaves do not overlap, so the pieces add up.
 */
int critical_find(struct critical *c, const struct steps *steps, uint64_t step, uint64_t since, uint64_t until)
{
	struct search f = { .out = c, .steps = steps };
	const struct part all = { .number = step, .since = since, .until = until };
	int err = until > since ? look_at(&f, &all) : 0;

	while (!err && f.n)
		err = go_back(&f, f.left[--f.n]);
	free(f.left);
	turn_round(c);
	return err;
}

void critical_free(struct critical *c)
{
	free(c->pieces);
	*c = (struct critical){ 0 };
}
