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

/* A part of the path that is not known yet: this step worked at `until`. */
struct part {
	uint64_t number;
	const struct step *waiter; /* what waits for its work, or NULL */
	uint64_t since, until;
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

/* What its thread waited for is told apart; where that may be forgotten, nothing is known. */
static int add_running(const struct search *f, const struct step *s, uint64_t since, uint64_t until)
{
	const struct stalls *stalls = &f->steps->stalls;
	uint64_t known;
	int err = 0;

	for (const struct stall *b = stalls_newest(stalls, s->pid, s->tid); !err && b && b->until_ns > since;
	     b = stalls_before(stalls, b)) {
		uint64_t from = within(b->from_ns, since, until), to = within(b->until_ns, from, until);

		err = add_of(f, s, CRITICAL_RUNNING, until - to) ?: add_blocked(f, s, b, to - from);
		until = from;
	}
	known = within(stalls->forgotten_ns, since, until);
	err = err ?: add_of(f, s, CRITICAL_RUNNING, until - known);
	return err ?: add_unknown(f, known - since);
}

/* Looked at later than what is looked at already. */
static int look_at(struct search *f, uint64_t number, const struct step *waiter, uint64_t since, uint64_t until)
{
	if (!ARRAY_ROOM(f->left, f->n, f->room))
		return -ENOMEM;
	f->left[f->n++] = (struct part){ number, waiter, since, until };
	return 0;
}

/* It waited from `since` to `until`, and then began. What nobody is known to end is told of where it was awaited. */
static int add_wait(struct search *f, const struct step *s, const struct part *in, uint64_t since, uint64_t until)
{
	uint64_t ready = s->ready_ns ? within(s->ready_ns, since, until) : until;
	const struct step *who = s->where || !in->waiter ? s : in->waiter;
	int err = add_of(f, s, CRITICAL_READY, until - ready);

	if (err || ready == since)
		return err;
	if (s->ready_by && s->ready_by < in->number) /* else it is damaged */
		return look_at(f, s->ready_by, who, since, ready);
	return who->where ? add_awaiting(f, who, ready - since) : add_unknown(f, ready - since);
}

/* The last step of a part; the rest of it, and what the step waited for, are left. */
static int go_back(struct search *f, struct part in)
{
	const struct step *s = steps_get(f->steps, in.number);
	uint64_t begun, from;
	int err;

	if (!s)
		return add_unknown(f, in.until - in.since);
	begun = within(s->begun_ns, in.since, in.until);
	from = within(s->suspended_ns, in.since, begun);
	err = add_running(f, s, begun, in.until);
	if (!err && from > in.since)
		err = look_at(f, s->before, in.waiter, in.since, from);
	return err ?: add_wait(f, s, &in, from, begun);
}

static void turn_round(struct critical *c)
{
	for (size_t i = 0; i < c->n / 2; i++) {
		struct critical_piece p = c->pieces[i];

		c->pieces[i] = c->pieces[c->n - 1 - i];
		c->pieces[c->n - 1 - i] = p;
	}
}

int critical_find(struct critical *c, const struct steps *steps, uint64_t step, uint64_t since, uint64_t until)
{
	struct search f = { .out = c, .steps = steps };
	int err = until > since ? look_at(&f, step, NULL, since, until) : 0;

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
