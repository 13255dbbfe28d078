// SPDX-License-Identifier: MIT
/*
 * A dispatch is held until the next thing of its thread comes: that may say that it was dispatched
 * again (just specialised), or that a POP_TOP was a generator's first instruction and not its caller's
 * next. So `held` is always the last instruction, not walked yet.
 */
#include "recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dispatch.h"
#include "doubt.h"
#include "walk.h"

#define PROLOGUE_MAX 64

struct held {
	bool valid;
	uint8_t opcode;
	uint64_t time, cycles;
};

struct frame {
	struct code *code; /* NULL: nothing told of it */
	struct walk *walk;
	uint64_t step; /* its last in doubt; DOUBT_NONE */
	uint8_t n;     /* places where its last instruction may be; 0: lost */
	uint8_t side;  /* enum side: where its last instruction, a branch, led */
	bool arrives;  /* what is dispatched next is at the places, not behind them */
	struct doubt_place at[DOUBT_PLACES];
};

struct recover_thread {
	struct recover *r;
	int32_t pid, tid;
	uint32_t interpreter;
	const struct dispatch *dispatch; /* NULL: not recorded for this */
	struct frame *frames;
	uint32_t nframes, room;
	struct held held, resume;
	bool begun;   /* a marker came: what ran before is not ours to tell */
	bool again;   /* the next dispatch is the held instruction once more */
	bool cleanup; /* the next RETURN_VALUE is of no frame of the program's */
	uint32_t nprologue;
	struct held prologue[PROLOGUE_MAX];
	struct doubt doubt;
};

void recover_init(struct recover *r, struct codes *codes, sample_fn feed, void *to)
{
	*r = (struct recover){ .codes = codes, .feed = feed, .to = to };
}

static struct recover_thread *make_thread(struct recover *r, int32_t pid, int32_t tid, uint64_t key)
{
	struct process *p = codes_process(r->codes, pid);
	struct recover_thread *t = calloc(1, sizeof(*t));

	if (!t || map_put(&r->threads, key, t)) {
		free(t);
		return NULL;
	}
	t->r = r;
	t->pid = pid;
	t->tid = tid;
	t->dispatch = p ? p->dispatch : NULL;
	return t;
}

static struct recover_thread *thread_of(struct recover *r, int32_t pid, int32_t tid)
{
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

	if (r->last && r->last_key == key)
		return r->last;
	r->last_key = key;
	r->last = map_get(&r->threads, key);
	if (!r->last)
		r->last = make_thread(r, pid, tid, key);
	return r->last;
}

/* --- out ----------------------------------------------------------------------------------------------- */

static int flush(struct recover_thread *t, bool all)
{
	uint64_t unsure = t->doubt.unsure;
	int err = doubt_flush(&t->doubt, all, t->r->feed, t->r->to);

	unsure = t->doubt.unsure - unsure;
	t->r->counts.unsure += unsure;
	t->r->counts.placed -= unsure;
	return err;
}

/* Room for one more step; what is in doubt for so long is given up. */
static int make_room(struct recover_thread *t)
{
	return t->doubt.tail - t->doubt.head == DOUBT_STEPS ? flush(t, true) : 0;
}

/* A sample that nothing is in doubt of, after those that wait. */
static int tell(struct recover_thread *t, const struct sample *s)
{
	int err;

	if (!doubt_waits(&t->doubt))
		return t->r->feed(t->r->to, s);
	err = make_room(t);
	if (err || !doubt_waits(&t->doubt))
		return err ? err : t->r->feed(t->r->to, s);
	return doubt_add(&t->doubt, s, DOUBT_SETTLED, DOUBT_NONE, NULL, 0) == DOUBT_NONE ? -ENOMEM : 0;
}

static struct sample sample_of(const struct recover_thread *t, const struct frame *f,
			       const struct held *h, unsigned op)
{
	return (struct sample){ .op = op,
				.pid = t->pid,
				.tid = t->tid,
				.interpreter = t->interpreter,
				.time = h->time,
				.cycles = h->cycles,
				.code = f->code,
				.offset = SAMPLE_NOWHERE,
				.target = SAMPLE_NOWHERE };
}

static int tell_at(struct recover_thread *t, const struct frame *f, const struct held *h, unsigned op,
		   uint32_t place)
{
	struct sample s = sample_of(t, f, h, op);

	s.offset = f->code->instrs[place].offset;
	if (op == OP_INSTRUCTION) {
		s.opcode = h->opcode;
		t->r->counts.placed++;
	}
	return tell(t, &s);
}

/* --- frames -------------------------------------------------------------------------------------------- */

static struct frame *top_of(struct recover_thread *t)
{
	return t->nframes ? &t->frames[t->nframes - 1] : NULL;
}

static struct frame *push(struct recover_thread *t, struct code *code)
{
	struct frame *frames;

	if (t->nframes == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		frames = realloc(t->frames, t->room * sizeof(*frames));
		if (!frames)
			return NULL;
		t->frames = frames;
	}
	if (code && !code->walk && !(code->walk = walk_new(code, t->dispatch)))
		return NULL;
	frames = &t->frames[t->nframes++];
	frames->code = code;
	frames->walk = code ? code->walk : NULL;
	frames->step = DOUBT_NONE;
	frames->n = 0;
	frames->side = SIDE_BOTH;
	frames->arrives = false;
	return frames;
}

/* The frame's place is not known any more. */
static void lose(struct recover_thread *t, struct frame *f)
{
	doubt_give_up(&t->doubt, f->step);
	f->step = DOUBT_NONE;
	f->n = 0;
	f->arrives = false;
	f->side = SIDE_BOTH;
}

static void pop(struct recover_thread *t)
{
	struct frame *f = top_of(t);

	if (f->n != 1)
		lose(t, f);
	t->nframes--;
}

static void lose_all(struct recover_thread *t)
{
	for (uint32_t i = 0; i < t->nframes; i++)
		lose(t, &t->frames[i]);
}

/* The innermost frame is at this place: what was in doubt is settled by it. */
static void put(struct recover_thread *t, struct frame *f, uint32_t place)
{
	unsigned i = 0;

	while (i < f->n && f->at[i].place != place)
		i++;
	if (i < f->n && !f->arrives)
		doubt_settle(&t->doubt, f->step, i);
	else
		doubt_give_up(&t->doubt, f->step);
	f->step = DOUBT_NONE;
	f->n = place < f->walk->n;
	f->at[0] = (struct doubt_place){ place, 0 };
	f->arrives = false;
	f->side = SIDE_BOTH;
}

/*
 * The instruction at the offset, or that has it in its inline cache: there CPython says an exception came
 * from where it inlined a call (BINARY_SUBSCR_GETITEM).
 */
static uint32_t place_of(const struct frame *f, int64_t offset)
{
	uint32_t i = code_index(f->code, offset);

	return i < f->code->ninstrs && offset < 2 * (int64_t)f->code->units ? i : WALK_NOWHERE;
}

/* --- one instruction ----------------------------------------------------------------------------------- */

/* Leaves by a return or yield; where from is said if it is known. */
static int leave(struct recover_thread *t, struct frame *f, const struct held *h, unsigned op)
{
	struct sample s = sample_of(t, f, h, op);
	bool told = f->code;

	if (f->n == 1)
		s.offset = f->code->instrs[f->at[0].place].offset;
	pop(t);
	return told ? tell(t, &s) : 0;
}

static int leave_if(struct recover_thread *t, struct frame *f, const struct held *h)
{
	enum flow flow = t->dispatch->flow[t->dispatch->base[h->opcode]];

	if (flow == FLOW_RETURN)
		return leave(t, f, h, OP_PY_RETURN);
	return flow == FLOW_YIELD ? leave(t, f, h, OP_PY_YIELD) : 0;
}

static int run_lost(struct recover_thread *t, struct frame *f, const struct held *h)
{
	t->r->counts.lost++;
	return f ? leave_if(t, f, h) : 0;
}

static void add_place(struct doubt_place *places, unsigned *n, uint32_t place, unsigned from)
{
	for (unsigned i = 0; i < *n && i < DOUBT_PLACES; i++)
		if (places[i].place == place) {
			places[i].from = DOUBT_MERGED;
			return;
		}
	if (*n < DOUBT_PLACES)
		places[*n] = (struct doubt_place){ place, from };
	(*n)++;
}

/* Which places can be reached where this opcode stands. More than DOUBT_PLACES: too many to follow. */
static unsigned reach(const struct frame *f, uint8_t base, struct doubt_place *places)
{
	uint32_t to[WALK_WAYS];
	unsigned n = 0, ways;

	for (unsigned i = 0; i < f->n; i++) {
		to[0] = f->at[i].place;
		ways = f->arrives ? 1 : walk_next(f->walk, f->at[i].place, f->side, to);
		for (unsigned k = 0; k < ways; k++)
			if (f->walk->nodes[to[k]].base == base)
				add_place(places, &n, to[k], i);
	}
	return n;
}

/* The step is in doubt, or was until now. */
static int record(struct recover_thread *t, struct frame *f, const struct held *h)
{
	struct sample s = sample_of(t, f, h, OP_INSTRUCTION);
	int err = make_room(t);

	if (err)
		return err;
	s.opcode = h->opcode;
	f->step = doubt_add(&t->doubt, &s, DOUBT_OPEN, f->step, f->at, f->n);
	if (f->step == DOUBT_NONE)
		return -ENOMEM;
	t->r->counts.placed++; /* for now: flush() takes away what is given up */
	if (f->n > 1)
		return 0;
	doubt_settle(&t->doubt, f->step, 0);
	f->step = DOUBT_NONE;
	return flush(t, false);
}

static int arrive(struct recover_thread *t, struct frame *f, const struct held *h)
{
	f->arrives = false;
	f->side = SIDE_BOTH;
	if (f->n == 1 && f->step == DOUBT_NONE)
		return tell_at(t, f, h, OP_INSTRUCTION, f->at[0].place);
	return record(t, f, h);
}

/* The second instruction of a pair: behind each of the places. */
static int second(struct recover_thread *t, struct frame *f, const struct held *h)
{
	struct held next = *h;

	for (unsigned i = 0; i < f->n; i++) {
		f->at[i].place++;
		f->at[i].from = i;
		if (f->at[i].place >= f->walk->n) {
			lose(t, f);
			return 0;
		}
	}
	t->r->counts.dispatched++;
	next.opcode = f->n == 1 ? f->walk->nodes[f->at[0].place].base : 0;
	return arrive(t, f, &next);
}

static int mismatch(struct recover_thread *t, struct frame *f, const struct held *h)
{
	t->r->counts.mismatches++;
	lose_all(t);
	return run_lost(t, f, h);
}

static int run_doubtful(struct recover_thread *t, struct frame *f, const struct held *h)
{
	struct doubt_place places[DOUBT_PLACES];
	unsigned n = reach(f, t->dispatch->base[h->opcode], places);

	if (!n || n > DOUBT_PLACES)
		return mismatch(t, f, h);
	f->n = n;
	for (unsigned i = 0; i < n; i++)
		f->at[i] = places[i];
	return arrive(t, f, h);
}

/* Walks the innermost frame on by the instruction. */
static int run(struct recover_thread *t, const struct held *h)
{
	struct frame *f = top_of(t);
	uint8_t base = t->dispatch->base[h->opcode];
	const struct walk_node *node;
	int err;

	if (!t->begun)
		return 0;
	t->r->counts.dispatched++;
	if (!f || !f->n)
		return run_lost(t, f, h);
	node = &f->walk->nodes[f->at[0].place];
	if (f->n == 1 && node->ways && !f->arrives && node[1].base == base) {
		f->at[0].place++;
		err = arrive(t, f, h);
	} else {
		err = run_doubtful(t, f, h);
		if (!f->n || f != top_of(t)) /* a mismatch */
			return err;
	}
	if (!err && t->dispatch->pair[h->opcode])
		err = second(t, f, h);
	return err ? err : leave_if(t, f, h);
}

/* --- what comes ---------------------------------------------------------------------------------------- */

static int settle_held(struct recover_thread *t)
{
	struct held h = t->held;

	t->held.valid = false;
	return h.valid ? run(t, &h) : 0;
}

/* A RESUME that no marker followed: a frame of code that nothing told of. */
static int settle(struct recover_thread *t)
{
	int err = settle_held(t);

	if (err || !t->resume.valid)
		return err;
	t->resume.valid = false;
	t->nprologue = 0;
	t->r->counts.dispatched += t->begun;
	t->r->counts.lost += t->begun;
	return push(t, NULL) ? 0 : -ENOMEM;
}

static bool fits(struct recover_thread *t, uint8_t base)
{
	struct doubt_place places[DOUBT_PLACES];
	struct frame *f = top_of(t);

	return f && f->n && reach(f, base, places);
}

static void add_prologue(struct recover_thread *t, const struct held *h)
{
	if (t->nprologue == PROLOGUE_MAX)
		t->nprologue = 0;
	t->prologue[t->nprologue++] = *h;
}

static int take(struct recover_thread *t, const struct held *h)
{
	const struct dispatch *d = t->dispatch;
	uint8_t base = d->base[h->opcode];
	bool again = t->again;
	int err;

	t->again = false;
	if (again && t->held.valid && d->base[t->held.opcode] == base) {
		t->held.opcode = h->opcode;
		return 0;
	}
	switch ((enum flow)d->flow[base]) {
	case FLOW_PREFIX:
	case FLOW_NOWHERE:
		return 0;
	case FLOW_RESUME:
		err = t->held.valid && d->base[t->held.opcode] == d->pop_top ? 0 : settle_held(t);
		if (!t->resume.valid)
			t->resume = *h;
		return err;
	case FLOW_CLEANUP:
		err = settle(t);
		t->cleanup = true;
		return err;
	case FLOW_UNKNOWN:
		err = settle(t);
		if (top_of(t))
			lose(t, top_of(t));
		return err;
	case FLOW_GENERATOR:
		err = settle(t);
		t->r->counts.dispatched += t->begun * (t->nprologue + 1);
		t->r->counts.makers += t->begun * (t->nprologue + 1);
		t->nprologue = 0;
		return err;
	case FLOW_PROLOGUE:
		err = settle(t);
		if (!err && !fits(t, base)) {
			add_prologue(t, h);
			return 0;
		}
		break;
	default:
		err = settle(t);
		if (t->cleanup && d->flow[base] == FLOW_RETURN) {
			t->cleanup = false;
			return err;
		}
	}
	t->held = *h;
	return err;
}

int recover_branch(struct recover *r, const struct word *w)
{
	struct recover_thread *t = thread_of(r, w->pid, w->tid);
	struct held h = { true, 0, w->time, w->cycles };

	if (!t)
		return -ENOMEM;
	if (!t->dispatch)
		return 0;
	switch (dispatch_at(t->dispatch, w->bits, &h.opcode)) {
	case DISPATCH_OP:
		return take(t, &h);
	case DISPATCH_AGAIN:
		t->again = true;
		return 0;
	default:
		return 0;
	}
}

/* Never a dispatch: an interrupt may come at a handler's first instruction, which was told already. */
int recover_enter(struct recover *r, const struct word *w)
{
	struct recover_thread *t = thread_of(r, w->pid, w->tid);
	uint8_t opcode;

	if (!t)
		return -ENOMEM;
	if (t->dispatch && dispatch_at(t->dispatch, w->bits, &opcode) == DISPATCH_AGAIN)
		t->again = true;
	return 0;
}

int recover_gap(struct recover *r, int32_t pid, int32_t tid)
{
	struct recover_thread *t = thread_of(r, pid, tid);
	int err;

	if (!t)
		return -ENOMEM;
	if (!t->dispatch)
		return 0;
	err = settle(t);
	lose_all(t);
	t->nframes = 0;
	t->nprologue = 0;
	t->again = t->cleanup = false;
	return err ? err : flush(t, false);
}

/* --- markers ------------------------------------------------------------------------------------------- */

/* What ran before the RESUME of a code object that is known now. */
static int tell_prologue(struct recover_thread *t, struct frame *f, uint32_t resume)
{
	uint32_t n = 0;
	int err = 0;

	while (n < t->nprologue && n < resume &&
	       f->walk->nodes[resume - 1 - n].base ==
		       t->dispatch->base[t->prologue[t->nprologue - 1 - n].opcode])
		n++;
	for (uint32_t i = n; i && !err; i--)
		err = tell_at(t, f, &t->prologue[t->nprologue - i], OP_INSTRUCTION, resume - i);
	t->r->counts.dispatched += n;
	t->nprologue = 0;
	return err;
}

/* The first POP_TOP of a generator was held for its caller. */
static void take_pop_top(struct recover_thread *t, const struct sample *s)
{
	const struct dispatch *d = t->dispatch;
	uint32_t i = code_index(s->code, s->offset);

	if (s->op != OP_PY_START || !t->held.valid || !t->resume.valid || !i || i >= s->code->ninstrs ||
	    d->base[t->held.opcode] != d->pop_top || s->code->instrs[i - 1].base != d->pop_top)
		return;
	add_prologue(t, &t->held);
	t->held.valid = false;
}

static int begin(struct recover_thread *t, const struct sample *s)
{
	struct held resume = t->resume;
	struct frame *f;
	int err;

	take_pop_top(t, s);
	t->resume.valid = false;
	err = settle_held(t);
	if (err)
		return err;
	f = push(t, s->code);
	if (!f)
		return -ENOMEM;
	put(t, f, place_of(f, s->offset));
	if (s->op == OP_PY_START && f->n)
		err = tell_prologue(t, f, f->at[0].place);
	t->nprologue = 0;
	if (!err && resume.valid && s->op != OP_PY_THROW) {
		t->r->counts.dispatched++;
		t->r->counts.lost += !f->n;
		err = f->n ? tell_at(t, f, &resume, OP_INSTRUCTION, f->at[0].place) : 0;
	}
	return err ? err : tell(t, s);
}

static bool has(const struct recover_thread *t, const struct code *code)
{
	for (uint32_t i = 0; i < t->nframes; i++)
		if (t->frames[i].code == code)
			return true;
	return false;
}

/* The frame of the marker's code becomes the innermost. NULL: no memory, or there is none and create is not set. */
static struct frame *align(struct recover_thread *t, struct code *code, bool create)
{
	struct frame *f = top_of(t);

	if (f && f->code == code)
		return f;
	if (has(t, code)) {
		while (top_of(t)->code != code)
			pop(t);
		return top_of(t);
	}
	return create ? push(t, code) : NULL;
}

/*
 * A branch is told when it is taken, or by the instruction that it led to (3.14: NOT_TAKEN, POP_ITER),
 * which ran already then.
 */
static void at_branch(struct recover_thread *t, struct frame *f, const struct sample *s)
{
	uint32_t from = place_of(f, s->offset), target = place_of(f, s->target), to[WALK_WAYS];
	enum side side = from < f->walk->n ? walk_side(f->walk, from, target) : SIDE_BOTH;
	unsigned ways = from < f->walk->n ? walk_next(f->walk, from, side, to) : 0;

	for (unsigned i = 0; i < f->n; i++)
		for (unsigned k = 0; k < ways && f->at[i].place != from; k++)
			if (f->at[i].place == to[k]) {
				put(t, f, to[k]);
				return;
			}
	put(t, f, from);
	f->side = side;
}

static int at_marker(struct recover_thread *t, const struct sample *s)
{
	struct frame *f = align(t, s->code, true);

	if (!f)
		return -ENOMEM;
	if (s->op >= OP_BRANCH && s->op <= OP_BRANCH_RIGHT) {
		at_branch(t, f, s);
		return flush(t, false);
	}
	put(t, f, place_of(f, s->offset));
	f->arrives = s->op == OP_EXCEPTION_HANDLED;
	return tell(t, s);
}

static int unwind(struct recover_thread *t, const struct sample *s)
{
	struct frame *f = align(t, s->code, false);

	if (f) {
		put(t, f, place_of(f, s->offset));
		pop(t);
	}
	return tell(t, s);
}

int recover_sample(void *recover, const struct sample *s)
{
	struct recover *r = recover;
	struct recover_thread *t = thread_of(r, s->pid, s->tid);
	int err;

	if (!t)
		return -ENOMEM;
	if (s->op == SAMPLE_TIP)
		return recover_branch(r, &(struct word){ s->pid, s->tid, s->time, s->cycles, s->target });
	if (!t->dispatch)
		return r->feed(r->to, s);
	t->interpreter = s->interpreter;
	t->begun = true;
	switch (s->op) {
	case OP_PY_START:
	case OP_PY_RESUME:
	case OP_PY_THROW:
		return begin(t, s);
	case SAMPLE_GAP:
	case SAMPLE_RESTART:
		err = recover_gap(r, s->pid, s->tid);
		return err ? err : tell(t, s);
	}
	err = settle(t);
	if (err || !s->code) /* nothing that moves a frame: a snapshot, a foreign word */
		return err ? err : tell(t, s);
	return s->op == OP_PY_UNWIND ? unwind(t, s) : at_marker(t, s);
}

int recover_finish(struct recover *r)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&r->threads, s));) {
		struct recover_thread *t = s->value;

		err = t->dispatch ? settle(t) : 0;
		err = err ? err : flush(t, true);
	}
	return err;
}

void recover_tell(const struct recover *r, FILE *f)
{
	const struct recover_counts *c = &r->counts;
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{ c->makers, "made generators, of no known code" },
		{ c->lost, "where no code or place was known" },
		{ c->unsure, "with more than one place that fits" },
	};

	fprintf(f, "ocular: %" PRIu64 " of %" PRIu64 " instructions recovered (%.3f %%)\n", c->placed,
		c->dispatched, c->dispatched ? 100.0 * c->placed / c->dispatched : 0.0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].count)
			fprintf(f, "ocular: %" PRIu64 " instructions %s\n", rows[i].count, rows[i].what);
	if (c->mismatches)
		fprintf(f, "ocular: %" PRIu64 " times the recovery lost its way\n", c->mismatches);
}

void recover_free(struct recover *r)
{
	for (struct map_slot *s = NULL; (s = map_next(&r->threads, s));) {
		struct recover_thread *t = s->value;

		doubt_free(&t->doubt);
		free(t->frames);
		free(t);
	}
	map_free(&r->threads);
}
