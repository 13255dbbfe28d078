// SPDX-License-Identifier: MIT
/*
 * The one place where events change stacks. Sinks are called after the stack has changed, except with the raw sample;
 * totals of functions are added up when an activation ends.
 */
#include "thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cold.h"
#include "shared/marker.h"
#include "loop.h"

#define RAISES	  (1ull << 63) /* no payload has these */
#define HAS_VALUE (1ull << 63)

static COLD struct stack *find_stack(struct thread *t, uint32_t interpreter)
{
	struct stack **at = &t->stacks;

	while (*at && (*at)->interpreter != interpreter)
		at = &(*at)->next;
	if (!*at && (*at = calloc(1, sizeof(**at))))
		(*at)->interpreter = interpreter;
	return t->stack = *at;
}

static inline struct stack *stack_of(struct thread *t, uint32_t interpreter)
{
	return t->stack && t->stack->interpreter == interpreter ? t->stack : find_stack(t, interpreter);
}

/* A LINE may come before the PY_START of its activation, which is then in no frame yet. */
static __attribute__((noinline)) void begin_line(struct stack *st, const struct sample *s)
{
	struct frame *f = stack_top(st);

	if (f && f->a.code == s->code)
		charge_line(f, s->cycles, function_line(s->code, s->line));
}

static void add_totals(const struct frame *f, uint64_t ns, uint64_t cycles, enum leave_how how)
{
	struct function *fn = f->a.code->function;

	fn->self_ns += ns - f->a.callee_ns;
	fn->self_cycles += cycles - f->a.callee_cycles;
	spread_add(&fn->self_spread, cycles - f->a.callee_cycles);
	fn->unfinished += how == LEAVE_GAP || how == LEAVE_END;
	if (!f->recursive) {
		fn->total_ns += ns;
		fn->total_cycles += cycles;
	}
}

/* The stack whose innermost activation began last: interpreters on one thread nest. NULL: all empty. */
static struct stack *innermost_stack(const struct thread *t)
{
	struct stack *found = NULL;

	for (struct stack *s = t->stacks; s; s = s->next)
		if (s->nframes && (!found || stack_top(s)->a.start_ns > stack_top(found)->a.start_ns))
			found = s;
	return found;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * An interpreter that runs inside another is called by it. A caller that appeared only while the callee ran (it was
 * open before the trace) is charged from there on.
 */
static void charge_caller(const struct thread *t, const struct stack *s, const struct frame *f, uint64_t ns,
			  uint64_t cycles)
{
	const struct stack *outer = s->nframes ? s : innermost_stack(t);
	struct frame *caller = outer ? stack_top(outer) : NULL;

	if (!caller)
		return;
	caller->a.callee_ns += ns - later(f->a.start_ns, caller->a.start_ns);
	caller->a.callee_cycles += cycles - later(f->a.start_cycles, caller->a.start_cycles);
}

/* An activation ends in an import, or is the import's own. */
static COLD int end_in_import(struct stack *s, const struct frame *f, uint64_t ns, enum leave_how how)
{
	int err = import_ran(s->import, f->a.code, ns - f->a.callee_ns);

	if (f->import) {
		import_ends(f->import, ns, how == LEAVE_UNWIND);
		s->import = f->import->parent;
	}
	return err;
}

/* What was on its way in the activation that ends. */
static COLD void end_flights(struct stack *s, const struct frame *f, enum leave_how how)
{
	uint32_t depth = s->nframes + 1;

	if (how == LEAVE_UNWIND)
		flights_unwind(s->flights, depth, f->a.code);
	else if (how == LEAVE_GAP || how == LEAVE_END)
		flights_lose(s->flights, depth);
	else
		flights_return(s->flights, depth);
}

/* Ends the innermost activation. */
static inline int end(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		      const struct subscribers *to)
{
	int err = loop_leave_frame(s, how != LEAVE_GAP && how != LEAVE_END);
	struct frame *f = stack_pop(s);

	charge_line(f, cycles, NULL);
	if (s->import)
		err = err ?: end_in_import(s, f, ns - f->a.start_ns, how);
	if (s->flights)
		end_flights(s, f, how);
	add_totals(f, ns - f->a.start_ns, cycles - f->a.start_cycles, how);
	charge_caller(t, s, f, ns, cycles);
	if (!--t->depth) {
		t->empty_ns = ns;
		t->empty_cycles = cycles;
	}
	return err ? err : SUBSCRIBERS_CALL(to, leave, &f->a, how, ns, cycles);
}

static COLD int leave(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		      const struct subscribers *to)
{
	return end(t, s, ns, cycles, how, to);
}

static int leave_all(struct thread *t, enum leave_how how, const struct subscribers *to)
{
	int err = 0;

	for (struct stack *s; !err && (s = innermost_stack(t));)
		err = leave(t, s, t->last_ns, t->last_cycles, how, to);
	return err;
}

static int report_gap(const struct sample *gap, const struct subscribers *to)
{
	to->profile->gaps++;
	to->profile->lost_markers += gap->count;
	return SUBSCRIBERS_CALL(to, gap, gap);
}

/* `count` activations were closed whose ends were not seen. No marker is missing: only the sequence can show that. */
static int report_unmatched(const struct sample *s, uint64_t count, const struct subscribers *to)
{
	struct sample gap = *s;

	to->profile->unmatched += count;
	to->profile->mismatches++;
	gap.op = SAMPLE_UNMATCHED;
	gap.code = NULL;
	gap.target = SAMPLE_NOWHERE;
	gap.count = count;
	return SUBSCRIBERS_CALL(to, gap, &gap);
}

/* The thread's time without an activation: since the last one, or since the thread began. */
static void end_outside(const struct thread *t, uint64_t ns, uint64_t cycles, struct profile *p)
{
	if (t->depth)
		return;
	p->outside_ns += ns - t->empty_ns;
	p->outside_cycles += cycles - t->empty_cycles;
}

static int enter(struct thread *t, struct stack *st, const struct sample *s, bool adopted, const struct subscribers *to)
{
	struct function *fn = function_of(s->code);
	struct frame *f = stack_push(st, s);

	if (!fn || !f)
		return -ENOMEM;
	fn->cpu_unknown |= !t->cpu.known;
	end_outside(t, s->time, s->cycles, to->profile);
	if (st->import)
		import_begins(st->import, s->code);
	t->depth++;
	f->adopted = adopted;
	if (adopted)
		return SUBSCRIBERS_CALL(to, enter, &f->a);
	if (s->op == OP_PY_START) {
		fn->calls++;
		fn->recursive_calls += f->recursive;
	} else {
		fn->resumes++;
	}
	return SUBSCRIBERS_CALL(to, enter, &f->a);
}

/*
 * From CPython 3.13 on RESUME checks pending signals before it reports PY_START or PY_RESUME. An exception that strikes
 * there is a PY_UNWIND at the RESUME, of an activation without any earlier event.
 */
static bool is_struck(const struct sample *s)
{
	uint32_t i = code_index(s->code, s->offset);

	return s->code->process->starts_late && i < s->code->ninstrs && s->code->instrs[i].resume &&
	       s->code->instrs[i].offset == s->offset;
}

/* A generator catches what strikes at its RESUME, if only to raise it anew: it goes on from there, without an event. */
static bool began_unreported(const struct stack *st, const struct sample *s)
{
	return s->code->generator && s->code->process->starts_late && !stack_has(st, s->code);
}

/*
 * Makes the frame of the sample's code innermost. Usually it is. If the end of frames inside it was not seen (CPython
 * omits some, and so may a faulty trace), they are closed. If the frame was open before the trace began, it is adopted,
 * provided it lives on after this event.
 */
static COLD int realign(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct frame *top = stack_top(st);
	bool below;
	uint64_t closed = 0;
	int err = 0;

	if (top && began_unreported(st, s))
		return enter(t, st, s, true, to);
	if (top) {
		below = stack_has(st, s->code);
		while (!err && (top = stack_top(st)) && !(below && top->a.code == s->code)) {
			err = leave(t, st, s->time, s->cycles, LEAVE_GAP, to);
			closed++;
		}
		err = err ?: report_unmatched(s, closed, to);
	}
	if (!err && !stack_top(st) && sample_op_effect(s->op) == STACK_KEEP)
		err = enter(t, st, s, true, to);
	return err;
}

static inline int align(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	const struct frame *top = stack_top(st);

	return top && top->a.code == s->code ? 0 : realign(t, st, s, to);
}

static int pop(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	static const enum leave_how hows[OP_COUNT] = {
		[OP_PY_RETURN] = LEAVE_RETURN,
		[OP_PY_YIELD] = LEAVE_YIELD,
		[OP_PY_UNWIND] = LEAVE_UNWIND,
	};
	bool struck = s->op == OP_PY_UNWIND && is_struck(s);
	int err = struck ? enter(t, st, s, true, to) : align(t, st, s, to);

	/* Nothing to pop: it was open before the trace began. */
	if (err || !stack_top(st))
		return err;
	return end(t, st, s->time, s->cycles, hows[s->op], to);
}

static int back_edge(struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct trip trip;
	int err = loop_back_edge(st, s, &trip);

	if (err == LOOP_NONE)
		return 0;
	return err ? err : SUBSCRIBERS_CALL(to, iterate, &trip);
}

static const struct instr *back_edge_at(const struct code *code, int64_t offset)
{
	uint32_t i = code_index(code, offset);

	return i < code->ninstrs && code->instrs[i].back_edge ? &code->instrs[i] : NULL;
}

/* Without JUMP events (mode precise) an INSTRUCTION at the target of the previous one's jump is the back-edge. */
static __attribute__((noinline)) int arrive(struct frame *f, struct stack *st, const struct sample *s,
					    const struct subscribers *to)
{
	struct sample jump = *s;

	jump.op = OP_JUMP;
	jump.offset = f->jumping->offset;
	jump.target = s->offset;
	return back_edge(st, &jump, to);
}

/* INSTRUCTIONs up to the first RESUME come before the PY_START of their activation: they are in no frame yet. */
static __attribute__((noinline)) int step(struct thread *t, struct stack *st, const struct sample *s,
					  const struct subscribers *to)
{
	struct frame *f = stack_top(st);
	int err = charge_next(&t->charged, s, to->profile);

	if (err || !f || f->a.code != s->code || s->offset <= s->code->entry)
		return err;
	err = f->jumping && f->jumping->target == s->offset ? arrive(f, st, s, to) : 0;
	f->jumping = back_edge_at(s->code, s->offset);
	f->instrs++;
	return err;
}

/* What is not written in Python has no events of its own: its activation is from the CALL to what ends it. */
static int enter_c(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct sample begun = *s;
	int err;

	begun.op = OP_PY_START;
	begun.code = s->callee;
	err = enter(t, st, &begun, false, to);
	if (!err)
		stack_top(st)->called_at = s->offset;
	return err;
}

/* C_RETURN, C_RAISE. Without a CALL that is known to be of a C function it is an event of its caller, as any other. */
static int leave_c(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	const struct frame *f = stack_c_call(st, s->code, s->offset);
	uint64_t closed = 0;
	int err = 0;

	if (!f)
		return align(t, st, s, to);
	for (; !err && stack_top(st) != f; closed++)
		err = leave(t, st, s->time, s->cycles, LEAVE_GAP, to);
	if (!err && closed)
		err = report_unmatched(s, closed, to);
	return err ? err : end(t, st, s->time, s->cycles, s->op == OP_C_RETURN ? LEAVE_RETURN : LEAVE_UNWIND, to);
}

#define LINELESS 4 /* instructions at the beginning of a handler that may have no line */

/* Of the instruction there, in whose inline cache the offset may be; a handler's first one has no line. */
static int64_t line_at(const struct code *code, int64_t offset)
{
	uint32_t i = code_index(code, offset);

	if (offset >= 2 * (int64_t)code->units)
		return 0;
	for (uint32_t k = i; k < code->ninstrs && k < i + LINELESS; k++)
		if (code->instrs[k].line > 0)
			return code->instrs[k].line;
	return 0;
}

static int mark_exception(const struct stack *st, const struct sample *s, struct flight x, bool handled,
			  const struct subscribers *to)
{
	const struct exception_mark m = { .in = &stack_top(st)->a,
					  .of = x.row,
					  .time_ns = s->time,
					  .line = line_at(s->code, s->offset),
					  .handled = handled,
					  .frames = x.frames };

	return SUBSCRIBERS_CALL(to, exception, &m);
}

/* The exception that the last EXCEPTION word told of. */
static int raise_here(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct raise at = { .first = s->op == OP_RAISE && t->raises & MARKER_EXCEPTION_FIRST,
			    .again = s->op == OP_RERAISE,
			    .object = t->raises >> MARKER_EXCEPTION_SHIFT & MARKER_EXCEPTION_MAX,
			    .type = t->raised_type,
			    .code = s->code,
			    .line = line_at(s->code, s->offset),
			    .depth = st->nframes };
	bool begun;

	t->raises = 0;
	st->flights = st->flights ?: calloc(1, sizeof(*st->flights));
	if (!st->flights || flights_raise(st->flights, &to->profile->exceptions, &at, &begun))
		return -ENOMEM;
	return begun ? mark_exception(st, s, st->flights->on_way[st->flights->n - 1], false, to) : 0;
}

static int handle_here(struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct flight ended;

	if (flights_handle(st->flights, s->code, line_at(s->code, s->offset), st->nframes, &ended))
		return -ENOMEM;
	return ended.row ? mark_exception(st, s, ended, true, to) : 0;
}

static int keep(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (s->op == OP_INSTRUCTION)
		return step(t, st, s, to);
	if (s->op == OP_LINE) {
		begin_line(st, s);
		return 0;
	}
	if (s->op == OP_RAISE && is_struck(s))
		return 0;
	if (s->op == OP_C_RETURN || s->op == OP_C_RAISE)
		return leave_c(t, st, s, to);
	err = align(t, st, s, to);
	if (!err && s->op == OP_CALL && s->callee)
		return enter_c(t, st, s, to);
	if (!err && t->raises && (s->op == OP_RAISE || s->op == OP_RERAISE))
		return raise_here(t, st, s, to);
	if (!err && st->flights && s->op == OP_EXCEPTION_HANDLED)
		return handle_here(st, s, to);
	if (err || s->op != OP_JUMP || s->target > s->offset)
		return err;
	stack_top(st)->jumping = NULL;
	return back_edge(st, s, to);
}

static int act(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct stack *st = stack_of(t, s->interpreter);
	struct function *fn = function_of(s->code);

	if (!st || !fn)
		return -ENOMEM;
	fn->events[s->op]++;
	switch (sample_op_effect(s->op)) {
	case STACK_PUSH:
		return enter(t, st, s, false, to);
	case STACK_POP:
		return pop(t, st, s, to);
	case STACK_KEEP:
		return keep(t, st, s, to);
	}
	return 0;
}

/* A time of the thread that was off, charged where the thread is. */
static void add_off(struct thread *t, struct off d, struct profile *p)
{
	const struct stack *inner = d.ns ? innermost_stack(t) : NULL;

	if (!d.ns || t->early)
		return;
	off_add(&t->off, d);
	if (!inner)
		off_add(&p->outside_off, d);
	charge_off(t->stacks, inner, d);
}

/* What is open went on after switches were lost. */
static COLD void forget_cpu(const struct thread *t)
{
	for (const struct stack *s = t->stacks; s; s = s->next)
		for (uint32_t i = 0; i < s->nframes; i++)
			s->frames[i].a.code->function->cpu_unknown = true;
}

static int take_cpu(struct thread *t, const struct sample *s, struct profile *p)
{
	add_off(t, cpu_word(&t->cpu, s->payload, s->time, t->last_ns), p);
	if (t->cpu.lost)
		forget_cpu(t);
	return 0;
}

static void take_back(struct thread *t, struct off d, struct profile *p)
{
	add_off(t, off_minus((struct off){ 0 }, d), p);
}

/*
 * The running instruction's end, or what ran after it, is not known. Activations end with the last event before it;
 * what the thread was off since is outside of them.
 */
static int gap(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct off tail = cpu_tail(&t->cpu, t->last_ns);
	int err;

	take_back(t, tail, to->profile);
	err = leave_all(t, LEAVE_GAP, to);
	add_off(t, tail, to->profile);
	t->wait = (struct wait){ 0 };
	t->raises = 0;
	t->value = 0;
	t->charged.instr = NULL;
	err = err ?: spans_lose(&t->spans, &to->profile->spans);
	return err ? err : report_gap(s, to);
}

static void stand_at(struct thread *t, const struct sample *s)
{
	t->last_ns = s->time;
	t->last_cycles = s->cycles;
}

/* The thread's time ends with its last event; switches after it are not in it. */
static void end_time(struct thread *t, struct profile *p)
{
	take_back(t, cpu_tail(&t->cpu, t->last_ns), p);
	cpu_restart(&t->cpu);
	used_end(&t->used);
	t->wait = (struct wait){ 0 };
	t->wall_ns += t->last_ns - t->first_ns;
	p->traced_ns += t->last_ns - t->first_ns;
	p->traced_cycles += t->last_cycles - t->first_cycles;
}

void thread_begin(struct thread *t, const struct sample *s)
{
	stand_at(t, s);
	t->early = false;
	t->first_ns = t->empty_ns = t->charged.ns = s->time;
	t->first_cycles = t->empty_cycles = t->charged.cycles = s->cycles;
}

/*
 * The thread's tracing ended at its last sample and begins again at this one: the time in between counts for nothing.
 */
static int restart(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	end_time(t, to->profile);
	charge_last(&t->charged, t->last_ns, t->last_cycles, to->profile);
	err = leave_all(t, LEAVE_END, to);
	end_outside(t, t->last_ns, t->last_cycles, to->profile);
	thread_begin(t, s);
	return err;
}

/*
 * A segment of a flight recorder: how what was open before it ended was not seen; what is open at its end runs until
 * then.
 */
static int segment(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (s->ends) {
		add_off(t, cpu_until(&t->cpu, s->time, t->last_ns), to->profile);
		stand_at(t, s);
	}
	err = restart(t, s, to);
	return err ? err : SUBSCRIBERS_CALL(to, segment, s);
}

/* The innermost activation waited. */
static int take_wait(struct thread *t, const struct sample *s, struct profile *p)
{
	const struct stack *inner = innermost_stack(t);
	struct function *fn = inner ? stack_top(inner)->a.code->function : NULL;
	struct wait_time took;
	enum wait_kind kind = wait_word(&t->wait, s->payload, s->time, t->off.waiting_ns, &took);
	uint64_t ns = t->cpu.known && kind != WAIT_FOR_RING ? took.waiting_ns : took.ns;

	if (!kind || !ns || t->early)
		return 0;
	if (fn && !fn->waits)
		fn->waits = calloc(1, sizeof(*fn->waits));
	if (fn && !fn->waits)
		return -ENOMEM;
	waits_add(fn ? fn->waits : &p->outside_waits, kind, ns);
	t->gil_ns += kind == WAIT_FOR_GIL ? ns : 0;
	return s->named ? locks_add(&p->locks, s->named, took.place & MARKER_PLACE_LINES, ns) : 0;
}

/* The innermost activation, which has just begun, is an import. */
static int take_import(struct thread *t, const struct sample *s, struct profile *p)
{
	struct stack *st = stack_of(t, s->interpreter);
	struct frame *f = st ? stack_top(st) : NULL;

	if (!f || f->import || !import_is_of(f->a.code)) /* its beginning was not seen, or is left out */
		return 0;
	f->import = s->named ? imports_find(&p->imports, st->import, s->named->qualname) : NULL;
	if (!f->import)
		return -ENOMEM;
	st->import = f->import;
	return 0;
}

/* The innermost activation of a Python function; NULL: none is known. */
static const struct code *python_code(const struct stack *inner)
{
	const struct frame *f = inner ? stack_top(inner) : NULL;

	while (f && f->a.code->c)
		f = f > inner->frames ? f - 1 : NULL;
	return f ? f->a.code : NULL;
}

/* It was in these C functions. */
static int take_native(struct thread *t, const struct sample *s, struct profile *p)
{
	const struct code *code = python_code(innermost_stack(t));
	struct function *fn = code ? code->function : NULL;

	p->samples++;
	p->outside_samples += !fn;
	if (fn && !fn->sampled)
		fn->sampled = calloc(1, sizeof(*fn->sampled));
	if (fn && !fn->sampled)
		return -ENOMEM;
	return fn ? sampled_add(fn->sampled, (uint32_t)s->payload) : 0;
}

void thread_held_gil(struct thread *t, uint64_t ns)
{
	const struct code *code = python_code(innermost_stack(t));

	t->gil_held_ns += ns;
	if (code)
		code->function->gil_held_ns += ns;
}

static int begin_collection(struct thread *t, struct stack *st, struct code *code, const struct sample *s,
			    const struct subscribers *to)
{
	struct sample begun = *s;

	begun.op = OP_PY_START;
	begun.code = code;
	begun.offset = 0;
	return enter(t, st, &begun, false, to);
}

/* Finalizers have run in it: the end of some may not have been seen. */
static int end_collection(struct thread *t, struct stack *st, const struct code *code, const struct sample *s,
			  const struct subscribers *to)
{
	struct collection c = collection_of(s->payload);
	uint64_t closed = 0;
	int err = 0;

	if (!stack_has(st, code)) /* it began before the trace */
		return 0;
	for (; !err && stack_top(st)->a.code != code; closed++)
		err = leave(t, st, s->time, s->cycles, LEAVE_GAP, to);
	if (!err && closed)
		err = report_unmatched(s, closed, to);
	if (err)
		return err;
	collections_add(&to->profile->collections, &c, s->time - stack_top(st)->a.start_ns);
	return end(t, st, s->time, s->cycles, LEAVE_RETURN, to);
}

/* A collection is an activation of its own, of no Python function. */
static int collect(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct collection c = collection_of(s->payload);
	struct stack *st = stack_of(t, s->interpreter);
	int err;

	if (!st || !s->named)
		return -ENOMEM;
	err = c.begins ? begin_collection(t, st, s->named, s, to) : end_collection(t, st, s->named, s, to);
	stand_at(t, s);
	return err;
}

/* A counter's number, whose high bits the VALUE word has. */
static double counter_of(uint64_t value, uint64_t payload)
{
	uint64_t bits = (value & MARKER_PAYLOAD_MAX) << MARKER_LABEL_LOW | (payload & ((1u << MARKER_LABEL_LOW) - 1));
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* What the program says itself. */
static int take_label(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct label_mark m = { .pid = s->pid,
				.tid = s->tid,
				.what = (enum label_what)(s->payload >> MARKER_LABEL_SHIFT & MARKER_LABEL_MASK),
				.name = s->named,
				.ns = s->time,
				.cycles = s->cycles };
	uint32_t which = s->payload & ((1u << MARKER_LABEL_LOW) - 1);
	int err = 0;

	if (m.what == LABEL_COUNTER)
		m.value = counter_of(t->value, s->payload);
	else if (t->value && t->data && !strcmp(t->data->file, CODE_DATA_FILE))
		m.data = t->data;
	t->value = 0;
	if (!m.name) /* its id is 0 */
		return 0;
	if (m.what == LABEL_BEGIN)
		err = spans_begin(&t->spans, m.name, which, s->time);
	if (m.what == LABEL_END)
		err = spans_end(&t->spans, &to->profile->spans, m.name, which, s->time);
	return err ?: SUBSCRIBERS_CALL(to, label, &m);
}

static void take_value(struct thread *t, const struct sample *s)
{
	t->value = s->payload | HAS_VALUE;
	t->data = s->named;
}

static void take_exception(struct thread *t, const struct sample *s)
{
	t->raises = s->payload | RAISES;
	t->raised_type = s->named;
}

static int extension(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct profile *p = to->profile;

	p->known_kinds += s->kind == KIND_COLLECTION || s->kind == KIND_IMPORT || s->kind == KIND_EXCEPTION;
	p->known_kinds += s->kind == KIND_CPU || s->kind == KIND_CPU_TIME || s->kind == KIND_WAIT ||
			  s->kind == KIND_NATIVE;
	if (s->kind == KIND_CPU_TIME)
		used_word(&t->used, s->payload);
	if (s->kind == KIND_CPU)
		return take_cpu(t, s, p);
	if (s->kind == KIND_NATIVE)
		return take_native(t, s, p);
	if (s->kind == KIND_COLLECTION)
		return t->early ? 0 : collect(t, s, to);
	p->known_kinds += s->kind == KIND_LABEL || s->kind == KIND_VALUE;
	if (s->kind == KIND_VALUE)
		take_value(t, s);
	if (s->kind == KIND_LABEL)
		return take_label(t, s, to);
	if (s->kind == KIND_EXCEPTION)
		take_exception(t, s);
	if (s->kind == KIND_IMPORT)
		return t->early ? 0 : take_import(t, s, p);
	return s->kind == KIND_WAIT ? take_wait(t, s, p) : 0;
}

/* Anything but an event of code. Foreign words and those of unknown kinds say nothing about the thread. */
static COLD int feed_other(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (s->op == SAMPLE_FOREIGN)
		to->profile->foreign += s->count;
	if (s->op == OP_EXTENSION)
		return extension(t, s, to);
	if (s->op == SAMPLE_FOREIGN)
		return 0;
	if (s->op == OP_SNAPSHOT)
		err = segment(t, s, to);
	else
		err = s->op == SAMPLE_RESTART ? restart(t, s, to) : gap(t, s, to);
	stand_at(t, s);
	return err;
}

/*
 * No duration may be negative: a sample from before the thread's last one (a clock that was set back, damaged packets)
 * counts as simultaneous with it, and is counted.
 */
static COLD const struct sample *forward(const struct thread *t, const struct sample *s, struct sample *copy,
					 const struct subscribers *to)
{
	to->profile->backwards++;
	*copy = *s;
	copy->time = later(s->time, t->last_ns);
	copy->cycles = later(s->cycles, t->last_cycles);
	return copy;
}

int thread_feed(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct sample copy;
	int err = SUBSCRIBERS_CALL(to, sample, s);

	if (err)
		return err;
	if (s->time < t->last_ns || s->cycles < t->last_cycles)
		s = forward(t, s, &copy, to);
	if (s->op > OP_EVENT_LAST)
		return feed_other(t, s, to);
	err = act(t, s, to);
	stand_at(t, s);
	return err;
}

int thread_finish(struct thread *t, const struct subscribers *to)
{
	int err;

	end_time(t, to->profile);
	off_add(&to->profile->traced_off, t->off);
	end_outside(t, t->last_ns, t->last_cycles, to->profile);
	charge_last(&t->charged, t->last_ns, t->last_cycles, to->profile);
	err = leave_all(t, LEAVE_END, to);
	for (struct stack *st = t->stacks; st; st = st->next)
		if (st->flights)
			flights_end(st->flights);
	return err ?: spans_lose(&t->spans, &to->profile->spans);
}

void thread_free(struct thread *t)
{
	open_spans_free(&t->spans);
	for (struct stack *s = t->stacks, *next; s; s = next) {
		next = s->next;
		stack_free(s);
		free(s);
	}
	free(t);
}
