// SPDX-License-Identifier: MIT
/*
 * recover_rows() runs for each opcode of a trace and handles the common cases itself: what changes stays in registers
 * from dispatch to dispatch. take_other() handles less common ones. recover_take() takes a dispatch whose place is not
 * known, or not the only one.
 */
#include "recover_quick.h"

#include "model/ticks.h"

/* --- what opcodes may be ------------------------------------------------------------------------------- */

/* As in recover_take(): cases that are not held there, or not always. */
static bool is_held(enum flow flow)
{
	return flow <= FLOW_RAISE;
}

static bool leaves(enum flow flow)
{
	return flow == FLOW_RETURN || flow == FLOW_YIELD;
}

static quick_opcode may_be(const struct dispatch *d, uint8_t opcode)
{
	enum flow flow = d->flow[d->base[opcode]];

	if (!d->base[opcode])
		return 0;
	if (!is_held(flow))
		return flow == FLOW_RESUME ? QUICK_RESUME : 0;
	return QUICK_NEW | (d->head[d->base[opcode]] ? QUICK_TWICE : 0) |
	       (d->pair[opcode] ? 0
		: leaves(flow)	? QUICK_LEAVES
				: QUICK_HELD);
}

void recover_quick_init(struct recover_thread *t)
{
	const struct dispatch *d = t->dispatch;

	t->like = (struct sample){ .op = OP_INSTRUCTION, .pid = t->pid, .tid = t->tid, .target = SAMPLE_NOWHERE };
	for (int op = 0; d && op < 256; op++)
		t->quick[op] = d->base[op] | may_be(d, op);
}

/* --- a thread without anything undecided --------------------------------------------------------------- */

struct quick {
	struct recover_thread *thread;
	struct recover_frame *frame;
	const struct walk_node *nodes, *node; /* of the frame's code, and its place there */
	quick_opcode held;
	struct sample *room; /* recover->room, which already has the held instruction */
	uint32_t emitted;
};

/* Does the frame have one place, and no frame anything undecided? */
static inline bool is_sure(const struct recover_thread *t, const struct recover_frame *f)
{
	return f && f->n == 1 && !f->follows && !f->arrives && f->side == SIDE_BOTH && !undecided_waits(&t->undecided);
}

static inline void quick_hold(struct quick *q, uint8_t opcode, uint64_t time, uint64_t cycles)
{
	*q->room = q->thread->like;
	q->room->opcode = opcode;
	q->room->time = time;
	q->room->cycles = cycles;
	q->held = q->thread->quick[opcode];
}

/* Is the held instruction the one behind that place, unless it is dispatched again? */
static inline bool holds_one(const struct recover_thread *t, const struct recover_frame *f)
{
	return t->held.valid && !(t->again | t->cleanup | t->resume.valid) && is_sure(t, f);
}

/* False: not now. */
static inline bool quick_begin(struct quick *q, struct recover_thread *t)
{
	struct recover_frame *f = recover_frames_top(&t->frames);

	if (!holds_one(t, f) || t->held.before)
		return false;
	t->like.interpreter = f->interpreter;
	t->like.code = f->code;
	*q = (struct quick){ .thread = t, .frame = f, .nodes = f->walk->nodes, .room = t->r->room };
	q->node = &q->nodes[f->at[0].place];
	quick_hold(q, t->held.opcode, t->held.time, t->held.cycles);
	return true;
}

static inline void quick_end(const struct quick *q)
{
	struct recover_thread *t = q->thread;
	const struct sample *s = q->room;

	t->held = (struct held){ .valid = true, .opcode = s->opcode, .time = s->time, .cycles = s->cycles };
	t->r->room = q->room;
	t->r->counts.dispatched += q->emitted;
	t->r->counts.placed += q->emitted;
	q->frame->at[0].place = q->node - q->nodes;
}

static inline uint8_t base_of(quick_opcode o)
{
	return o;
}

/* May it be the held instruction once more? */
static inline bool is_twice(quick_opcode held, quick_opcode next)
{
	return base_of(next) == base_of(held) && next & QUICK_TWICE;
}

/* Moves to the place of the held instruction, if the next dispatch is another one. False: neither is certain. */
static inline bool quick_go(struct quick *q, quick_opcode next)
{
	const struct walk_node *to;
	uint32_t place;

	if (!(next & QUICK_NEW) || !(q->held & QUICK_HELD))
		return false;
	place = q->node->to[0];
	if (q->node->ahead[0] != base_of(q->held)) { /* nearly always */
		place = walk_to(q->node, base_of(q->held));
		if (place == WALK_NOWHERE)
			return false;
	}
	to = &q->nodes[place];
	if (is_twice(q->held, next) && (q->thread->r->compressed || walk_to(to, base_of(next)) == WALK_NOWHERE))
		return false;
	q->node = to;
	return true;
}

/* The held instruction is there. */
static inline int quick_emit(struct quick *q)
{
	struct recover *r = q->thread->r;
	int err = 0;

	q->room->offset = q->node->offset;
	q->emitted++;
	if (++q->room == r->end) {
		r->room = q->room;
		err = r->full(r);
		q->room = r->room;
	}
	return err;
}

/* --- branches that begin alike ------------------------------------------------------------------------- */

/* Dispatches in order of time: those not reported yet are looked at here. */
struct ahead {
	const struct recover_thread *thread;
	const struct row *row, *end; /* the last one seen */
};

/* 0: no other, or something else comes first. */
static quick_opcode look(struct ahead *a)
{
	uint8_t opcode;

	while (++a->row < a->end && a->row->kind != ROW_WORD)
		switch (dispatch_at(a->thread->dispatch, a->row->ip, &opcode)) {
		case DISPATCH_OP:
			if (a->row->kind == ROW_BRANCH)
				return a->thread->quick[opcode];
			break;
		case DISPATCH_AGAIN:
			return 0;
		default:
			break;
		}
	return 0;
}

/* The sides that the held instruction may be on: it is at `from`, the last one that ran at `to`. */
struct alike {
	unsigned n;
	struct {
		uint32_t from, to;
	} way[WALK_WAYS];
};

static void ways_of(struct alike *a, const struct walk *w, uint32_t place, uint8_t base)
{
	uint32_t to[WALK_WAYS];
	unsigned n = walk_next(w, place, SIDE_BOTH, to);

	a->n = 0;
	for (unsigned i = 0; i < n; i++)
		if (w->nodes[to[i]].base == base) {
			a->way[a->n].from = a->way[a->n].to = to[i];
			a->n++;
		}
}

/* Moves along each side by this opcode; a side without it is dropped. False: they join, split again, or all end. */
static bool go_on(struct alike *a, const struct walk *w, uint8_t base)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++) {
		const struct walk_node *node = &w->nodes[a->way[i].to];
		uint32_t to = walk_to(node, base);

		if (!node->ahead[0])
			return false;
		if (to == WALK_NOWHERE)
			continue;
		for (unsigned k = 0; k < n; k++)
			if (a->way[k].to == to)
				return false;
		a->way[n].from = a->way[i].from;
		a->way[n++].to = to;
	}
	a->n = n;
	return n;
}

/*
 * The place of the held instruction, which is on several sides of a branch, by what is dispatched after it; or
 * WALK_NOWHERE. The last known dispatch must not decide: nothing is certain about it before another comes
 * (recover_take.c).
 */
static uint32_t place_ahead(const struct recover_frame *f, quick_opcode held, quick_opcode next, struct ahead ahead)
{
	struct alike a;

	for (ways_of(&a, f->walk, f->at[0].place, base_of(held)); a.n; next = look(&ahead)) {
		if (!(next & QUICK_NEW) || !(held & QUICK_HELD) || is_twice(held, next))
			return WALK_NOWHERE;
		if (a.n == 1)
			return a.way[0].from;
		if (!go_on(&a, f->walk, base_of(next)))
			return WALK_NOWHERE;
		held = next;
	}
	return WALK_NOWHERE;
}

/* --- dispatches ---------------------------------------------------------------------------------------- */

/* Nothing to report yet: the first behind what gave the place, or no marker came. False: nothing was done. */
static inline bool take_first(struct recover_thread *t, const struct held *h)
{
	if (t->again | t->cleanup | t->resume.valid || !(t->quick[h->opcode] & QUICK_NEW))
		return false;
	if (t->begun && (t->held.valid || !is_sure(t, recover_frames_top(&t->frames))))
		return false;
	t->behind_gap = GAP_NONE;
	t->held = *h;
	return true;
}

/* The held instruction is at this place. */
static int report(struct recover_thread *t, struct recover_frame *f, uint32_t place)
{
	f->at[0].place = place;
	t->r->counts.dispatched++;
	return recover_emit_at(t, f, &t->held, OP_INSTRUCTION, place);
}

/* It is a call whose frame begins, or a frame continues. */
static int take_resume(struct recover_thread *t, struct recover_frame *f, uint32_t place, const struct held *h)
{
	int err = report(t, f, place);

	t->held.valid = false;
	t->resume = *h;
	return err;
}

/* It leaves its frame; the next dispatch is its caller's. */
static int take_left(struct recover_thread *t, struct recover_frame *f, uint32_t place, const struct held *h)
{
	int err = report(t, f, place);

	err = err ? err : recover_leave(t, f, &t->held);
	t->held = *h;
	t->followed = false;
	return err ? err : recover_second(t, base_of(t->quick[h->opcode]));
}

static int take_next(struct recover_thread *t, struct recover_frame *f, uint32_t place, const struct held *h)
{
	int err = report(t, f, place);

	t->held = *h;
	return err;
}

static int take_other(struct recover_thread *t, const struct held *h, struct ahead ahead)
{
	struct recover_frame *f = recover_frames_top(&t->frames);
	quick_opcode held = t->quick[t->held.opcode], next = t->quick[h->opcode];
	uint32_t place;

	if (!holds_one(t, f))
		return take_first(t, h) ? 0 : recover_take(t, h);
	place = walk_to(&f->walk->nodes[f->at[0].place], base_of(held));
	if (place == WALK_NOWHERE)
		place = place_ahead(f, held, next, ahead);
	if (place == WALK_NOWHERE || is_twice(held, next))
		return recover_take(t, h);
	if (next & QUICK_NEW && held & QUICK_HELD)
		return take_next(t, f, place, h);
	if (next & QUICK_NEW && held & QUICK_LEAVES)
		return take_left(t, f, place, h);
	if (next & QUICK_RESUME && held & QUICK_HELD && base_of(held) != t->dispatch->pop_top)
		return take_resume(t, f, place, h);
	return recover_take(t, h);
}

/* The time of rows, computed only where it changes: there are fewer CYC packets, which it comes from, than rows. */
struct moment {
	uint64_t at, ns, cycles;
};

static inline struct moment moment_of(const struct recover_thread *t, const struct rows *rows, const struct row *row)
{
	struct recover *r = t->r;
	struct moment m = { row->cycles, rows_ns(rows, row), 0 };

	m.cycles = r->ticks ? ticks_at(r->ticks, r->codes, t->pid, m.ns) : rows_cycles(rows, row);
	return m;
}

/* Takes rows from *from, as long as they are common ones. */
static inline int quick_rows(struct recover_thread *t, const struct rows *rows, const struct row **from,
			     struct moment *now)
{
	const struct row *row = *from, *end = rows->at + rows->n;
	const struct dispatch *d = t->dispatch;
	struct quick q;
	int err = 0;

	if (!quick_begin(&q, t))
		return 0;
	for (; row < end; row++) {
		const struct dispatch_slot *s = dispatch_slot(d, row->ip);

		if (row->kind == ROW_WORD)
			break;
		if (!s)
			continue;
		if (row->kind != ROW_BRANCH || !quick_go(&q, t->quick[s->opcode]))
			break;
		if (row->cycles != now->at)
			*now = moment_of(t, rows, row);
		err = quick_emit(&q);
		quick_hold(&q, s->opcode, now->ns, now->cycles);
		if (err)
			break;
	}
	quick_end(&q);
	*from = row;
	return err;
}

/* The first row that is a dispatch, a second one, or a word; or the end. */
static inline const struct row *skip_rows(const struct dispatch *d, const struct row *row, const struct row *end)
{
	while (row < end && row->kind != ROW_WORD && !dispatch_slot(d, row->ip))
		row++;
	return row;
}

/* Where tracing begins nothing is dispatched: an interrupt may come at a handler's first instruction. */
static int other_row(struct recover_thread *t, const struct rows *rows, const struct row *row, struct moment *now)
{
	struct held h = { .valid = true };
	enum dispatch_kind kind = dispatch_at(t->dispatch, row->ip, &h.opcode);

	if (kind == DISPATCH_AGAIN)
		t->again = true;
	if (kind != DISPATCH_OP || row->kind != ROW_BRANCH)
		return 0;
	if (row->cycles != now->at)
		*now = moment_of(t, rows, row);
	h.time = now->ns;
	h.cycles = now->cycles;
	return take_other(t, &h, (struct ahead){ t, row, rows->at + rows->n });
}

int recover_rows(struct recover_thread *t, const struct rows *rows, const struct row **from)
{
	const struct row *end = rows->at + rows->n;
	struct moment now = moment_of(t, rows, *from);
	int err = 0;

	while (!err) {
		err = quick_rows(t, rows, from, &now);
		*from = skip_rows(t->dispatch, *from, end);
		if (err || *from == end || (*from)->kind == ROW_WORD)
			break;
		err = other_row(t, rows, (*from)++, &now);
	}
	return err;
}
