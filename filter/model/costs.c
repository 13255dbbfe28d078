// SPDX-License-Identifier: MIT
/*
 * Each frame remembers its place and since when it has been there. The time is charged to the place when the frame
 * moves on, calls, or ends; it starts again when a callee ends.
 */
#include "costs.h"

#include <errno.h>
#include <stdlib.h>

#include "code/codes_part.h"
#include "shared/array.h"

struct cost_frame {
	struct code *code;
	uint32_t place;
	uint32_t before; /* where it is, while it waits */
	bool waits; /* its last LINE is that of its code's first line: if that code begins now, it was the new one's */
	uint32_t calls; /* how it was called: index + 1 in costs.calls; 0: not known */
	bool stepped;	/* an INSTRUCTION event came: lines are coarser */
	bool recursive;
	uint64_t start_ns;
	uint64_t ns, cycles;   /* charged until then */
	uint64_t instructions; /* its own and its callees' time */
};

struct cost_stack {
	struct tstate tstate;
	struct cost_frame *frames;
	uint32_t nframes, size;
	struct map open; /* struct code -> how many frames */
	struct map away; /* by away_key() -> struct away */
};

/* A frame of a greenlet that is away: it goes on where it was. */
struct away {
	uint64_t greenlet;
	struct code *code;
	uint32_t place, calls;
	bool stepped;
};

#define AWAY_GREENLETS 4096 /* of so many with a stack each; of more, some go on as if they began */

static uint64_t away_key(const struct activation *a)
{
	return map_pair(a->greenlet % AWAY_GREENLETS, a->depth);
}

/* Keys: code numbers have 24 bits, like ids, and there are no more distinct ones. */
#define CODE_BITS  24
#define PLACE_BITS 32

static uint64_t number_of(struct costs *c, struct code *code)
{
	uintptr_t n = (uintptr_t)map_get(&c->codes, (uintptr_t)code);

	if (n)
		return n;
	n = c->codes.used + 1;
	return map_put(&c->codes, (uintptr_t)code, (void *)n) ? 0 : n;
}

/* Its index, or -ENOMEM. */
static int64_t place_of(struct costs *c, struct code *code, uint8_t kind, uint32_t at)
{
	uint64_t number = number_of(c, code);
	uint64_t key = (number << 2 | kind) << PLACE_BITS | at;
	uintptr_t found = (uintptr_t)map_get(&c->place_index, key);

	if (found)
		return found - 1;
	if (!number || !ARRAY_ROOM(c->places, c->nplaces, c->places_size) ||
	    map_put(&c->place_index, key, (void *)(uintptr_t)(c->nplaces + 1)))
		return -ENOMEM;
	c->places[c->nplaces] = (struct place){ .code = code, .kind = kind, .at = at };
	return c->nplaces++;
}

static int64_t calls_of(struct costs *c, uint32_t from, struct code *callee)
{
	uint64_t number = number_of(c, callee);
	uint64_t key = (uint64_t)from << CODE_BITS | number;
	uintptr_t found = (uintptr_t)map_get(&c->calls_index, key);

	if (found)
		return found - 1;
	if (!number || !ARRAY_ROOM(c->calls, c->ncalls, c->calls_size) ||
	    map_put(&c->calls_index, key, (void *)(uintptr_t)(c->ncalls + 1)))
		return -ENOMEM;
	c->calls[c->ncalls] = (struct place_calls){ .from = from, .callee = callee };
	return c->ncalls++;
}

static struct cost_stack *stack_of(struct costs *c, int32_t pid, int32_t tid, uint32_t interpreter)
{
	return tstate_of(&c->stacks, pid, tid, interpreter, sizeof(struct cost_stack));
}

static struct cost_frame *top_of(const struct cost_stack *s)
{
	return s->nframes ? &s->frames[s->nframes - 1] : NULL;
}

/* The running frame of a thread: the one that began last, because interpreters on one thread nest. NULL: none. */
static struct cost_frame *innermost(const struct costs *c, const struct cost_stack *of)
{
	const struct tstate *s = of->nframes ? NULL : tstate_thread(&c->stacks, of->tstate.pid, of->tstate.tid);
	struct cost_frame *f, *found = top_of(of);

	for (; s; s = s->other) {
		f = top_of((const struct cost_stack *)s);
		if (f && (!found || f->start_ns > found->start_ns))
			found = f;
	}
	return found;
}

/* A time before the last one counts as the last one: thread.c ensures it except for raw samples. */
static void charge(struct costs *c, struct cost_frame *f, uint64_t ns, uint64_t cycles)
{
	struct place *p = &c->places[f->place];

	if (ns > f->ns) {
		p->ns += ns - f->ns;
		f->ns = ns;
	}
	if (cycles > f->cycles) {
		p->cycles += cycles - f->cycles;
		f->cycles = cycles;
	}
}

static int move(struct costs *c, struct cost_frame *f, const struct sample *s, uint8_t kind, uint32_t at)
{
	int64_t place = place_of(c, s->code, kind, at);

	if (place < 0)
		return place;
	charge(c, f, s->time, s->cycles);
	f->place = place;
	return 0;
}

static bool is_entry_line(const struct code *code, int64_t line)
{
	uint32_t i = code->entry < 0 ? code->ninstrs : code_index(code, code->entry);

	return line == (i < code->ninstrs ? code->instrs[i].line : code->firstlineno);
}

/*
 * INSTRUCTIONs come before their function's PY_START, up to its RESUME: until then the caller stays where it was, even
 * if it runs the same code.
 */
static int step(struct costs *c, struct cost_frame *f, const struct sample *s)
{
	int64_t place;

	c->stepped = true;
	place = place_of(c, s->code, PLACE_INSTRUCTION, s->offset);
	if (place < 0)
		return place;
	c->places[place].instructions++;
	if (!f)
		return 0;
	f->instructions++;
	if (f->code != s->code || s->offset <= s->code->entry)
		return 0;
	f->stepped = true;
	f->waits = false;
	return move(c, f, s, PLACE_INSTRUCTION, s->offset);
}

/* The same holds for LINE; but a frame may also come back to its first line: the next event decides whose it was. */
static int go_to_line(struct costs *c, struct cost_frame *f, const struct sample *s)
{
	f->before = f->place;
	f->waits = is_entry_line(s->code, s->line);
	return move(c, f, s, PLACE_LINE, s->line);
}

/* It was the LINE of the call that begins: its caller is where it was before. */
static void go_back(struct cost_frame *caller, const struct activation *a)
{
	if (caller->waits && caller->code == a->code && a->op == OP_PY_START)
		caller->place = caller->before;
	caller->waits = false;
}

int costs_sample(struct costs *c, const struct sample *s)
{
	struct cost_stack *stack;
	struct cost_frame *f;

	if (s->op != OP_INSTRUCTION && s->op != OP_LINE)
		return 0;
	stack = stack_of(c, s->pid, s->tid, s->interpreter);
	if (!stack)
		return -ENOMEM;
	f = top_of(stack);
	if (s->op == OP_INSTRUCTION)
		return step(c, f, s);
	if (!f || f->code != s->code || f->stepped)
		return 0;
	return go_to_line(c, f, s);
}

/* Adds `by` to the number of the code's open frames; returns the old number. -1: no memory. */
static int64_t count_open(struct cost_stack *s, struct code *code, int by)
{
	uintptr_t n = (uintptr_t)map_get(&s->open, (uintptr_t)code); /* + 1: NULL is no value */
	uintptr_t more = (n ? n : 1) + by;

	return map_put(&s->open, (uintptr_t)code, (void *)more) ? -1 : (int64_t)more - 1 - by;
}

static int note_call(struct costs *c, struct cost_frame *caller, const struct activation *a, struct cost_frame *f)
{
	int64_t calls;

	if (a->op != OP_PY_START && a->op != OP_PY_RESUME && a->op != OP_PY_THROW)
		return 0;
	calls = calls_of(c, caller->place, a->code);
	if (calls < 0)
		return calls;
	c->calls[calls].calls++;
	f->calls = calls + 1;
	return 0;
}

static int put_away(struct cost_stack *s, const struct activation *a, const struct cost_frame *f)
{
	uint64_t key = away_key(a);
	struct away *away = map_get(&s->away, key);

	away = away ? away : map_add(&s->away, key, sizeof(*away));
	if (!away)
		return -ENOMEM;
	*away = (struct away){ a->greenlet, a->code, f->place, f->calls, f->stepped };
	return 0;
}

static void bring_back(const struct cost_stack *s, const struct activation *a, struct cost_frame *f)
{
	const struct away *away = map_get(&s->away, away_key(a));

	if (!away || away->greenlet != a->greenlet || away->code != a->code)
		return;
	f->place = away->place;
	f->calls = away->calls;
	f->stepped = away->stepped;
}

int costs_enter(struct costs *c, const struct activation *a)
{
	struct cost_stack *s = stack_of(c, a->pid, a->tid, a->interpreter);
	int64_t place = place_of(c, a->code, PLACE_WHOLE, 0);
	int64_t open = s ? count_open(s, a->code, 1) : -1;
	struct cost_frame f = { .code = a->code,
				.place = place,
				.recursive = open > 0,
				.start_ns = a->start_ns,
				.ns = a->start_ns,
				.cycles = a->start_cycles };
	struct cost_frame *running;

	if (place < 0 || open < 0 || !ARRAY_ROOM(s->frames, s->nframes, s->size))
		return -ENOMEM;
	if (a->op == OP_EXTENSION)
		bring_back(s, a, &f);
	if (s->nframes)
		go_back(top_of(s), a);
	running = innermost(c, s);
	if (running)
		charge(c, running, a->start_ns, a->start_cycles);
	if (s->nframes && note_call(c, top_of(s), a, &f))
		return -ENOMEM;
	s->frames[s->nframes++] = f;
	return 0;
}

int costs_resume(struct costs *c, const struct activation *a)
{
	struct cost_stack *s = stack_of(c, a->pid, a->tid, a->interpreter);

	if (!s)
		return -ENOMEM;
	return s->nframes < 2 ? 0 : note_call(c, &s->frames[s->nframes - 2], a, top_of(s));
}

static void add_inclusive(struct costs *c, const struct cost_frame *f, uint64_t ns, uint64_t cycles)
{
	struct place_calls *calls;

	if (!f->calls || f->recursive)
		return;
	calls = &c->calls[f->calls - 1];
	calls->ns += ns;
	calls->cycles += cycles;
	calls->instructions += f->instructions;
}

int costs_leave(struct costs *c, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles)
{
	struct cost_stack *s = stack_of(c, a->pid, a->tid, a->interpreter);
	struct cost_frame *f = s ? top_of(s) : NULL, *next;

	if (!f)
		return -ENOMEM;
	charge(c, f, end_ns, end_cycles);
	add_inclusive(c, f, end_ns - a->start_ns, end_cycles - a->start_cycles);
	if (how == LEAVE_AWAY && put_away(s, a, f))
		return -ENOMEM;
	s->nframes--;
	next = innermost(c, s);
	if (next) {
		next->instructions += f->instructions;
		next->ns = end_ns;
		next->cycles = end_cycles;
	}
	return count_open(s, a->code, -1) < 0 ? -ENOMEM : 0;
}

/* Its index there, or -ENOMEM. */
static int64_t join_place(struct costs *to, const struct place *more)
{
	struct code *code = codes_same(more->code);
	int64_t i = code ? place_of(to, code, more->kind, more->at) : -ENOMEM;

	if (i < 0)
		return i;
	to->places[i].ns += more->ns;
	to->places[i].cycles += more->cycles;
	to->places[i].instructions += more->instructions;
	return i;
}

static int join_calls(struct costs *to, const struct place *from, const struct place_calls *more)
{
	struct code *callee = codes_same(more->callee);
	const struct place none = { .code = from->code, .kind = from->kind, .at = from->at };
	int64_t place = join_place(to, &none), i = callee && place >= 0 ? calls_of(to, place, callee) : -ENOMEM;

	if (i < 0)
		return i;
	to->calls[i].calls += more->calls;
	to->calls[i].ns += more->ns;
	to->calls[i].cycles += more->cycles;
	to->calls[i].instructions += more->instructions;
	return 0;
}

int costs_join(struct costs *to, const struct costs *more)
{
	int64_t err = 0;

	to->stepped |= more->stepped;
	for (uint32_t i = 0; i < more->nplaces && err >= 0; i++)
		err = join_place(to, &more->places[i]);
	for (uint32_t i = 0; i < more->ncalls && err >= 0; i++)
		err = join_calls(to, &more->places[more->calls[i].from], &more->calls[i]);
	return err < 0 ? err : 0;
}

static void release(struct tstate *tstate)
{
	struct cost_stack *s = (struct cost_stack *)tstate;

	map_free(&s->open);
	map_free_all(&s->away);
	free(s->frames);
}

void costs_free(struct costs *c)
{
	tstates_free(&c->stacks, release);
	map_free(&c->codes);
	map_free(&c->place_index);
	map_free(&c->calls_index);
	free(c->places);
	free(c->calls);
	*c = (struct costs){ 0 };
}
