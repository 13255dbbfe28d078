// SPDX-License-Identifier: MIT
/*
 * The thread's time: where it begins and ends, what of it is lost, and what of it the thread was off its CPU or in no
 * activation.
 */
#include "thread_parts.h"

#include "objects.h"

/* A time of the thread that was off, charged where the thread is. */
static void add_off(struct thread *t, struct off d, struct profile *p)
{
	const struct stack *inner = d.ns ? thread_innermost_stack(t) : NULL;

	if (!d.ns || t->early)
		return;
	off_add(&t->off, d);
	if (!inner)
		off_add(&p->outside_off, d);
	if (t->charged.instr)
		t->charged.instr->waiting_ns += d.waiting_ns;
	charge_off(t->stacks, inner, d);
}

/* What is open went on after switches were lost. */
static COLD void forget_cpu(const struct thread *t)
{
	for (const struct stack *s = t->stacks; s; s = s->next)
		for (uint32_t i = 0; i < s->nframes; i++)
			s->frames[i].a.code->function->cpu_unknown = true;
}

/* It was off until ns, since its last event. */
static int was_off(struct thread *t, struct off d, uint64_t ns, const struct subscribers *to)
{
	const struct off_mark m = { t->pid, t->tid, ns, t->last_ns, d };

	add_off(t, d, to->profile);
	return d.ns && !t->early ? SUBSCRIBERS_CALL(to, off, &m) : 0;
}

int thread_take_cpu(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err = was_off(t, cpu_word(&t->cpu, s->payload, s->time, t->last_ns), s->time, to);

	if (t->cpu.lost)
		forget_cpu(t);
	return err;
}

static void take_back(struct thread *t, struct off d, struct profile *p)
{
	add_off(t, off_minus((struct off){ 0 }, d), p);
}

void thread_end_outside(const struct thread *t, uint64_t ns, uint64_t cycles, struct profile *p)
{
	if (t->depth)
		return;
	p->outside_ns += ns - t->empty_ns;
	p->outside_cycles += cycles - t->empty_cycles;
}

static int report_gap(const struct sample *gap, const struct subscribers *to)
{
	to->profile->gaps++;
	to->profile->lost_markers += gap->count;
	return SUBSCRIBERS_CALL(to, gap, gap);
}

/*
 * The running instruction's end, or what ran after it, is not known. Activations end with the last event before it;
 * what the thread was off since is outside of them.
 */
int thread_gap(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct off tail = cpu_tail(&t->cpu, t->last_ns);
	int err;

	take_back(t, tail, to->profile);
	err = thread_close_all(t, LEAVE_GAP, to);
	objects_lose(t->objects);
	thread_lose_greenlets(t);
	t->greenlets.since_ns = s->time;
	add_off(t, tail, to->profile);
	t->wait = (struct wait){ 0 };
	t->raises = 0;
	label_data_forget(&t->data);
	t->doing.beginning = t->doing.unnamed = t->doing.stepping = t->doing.last.address = 0;
	t->doing.hidden = t->doing.step = t->doing.unseen = t->doing.awaited = 0;
	t->doing.pieces = 0;
	requests_lose(&to->profile->requests);
	t->charged.instr = NULL;
	err = err ?: thread_lose_spans(t, to) ?: thread_lose_wholes(t, to);
	return err ? err : report_gap(s, to);
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
	t->first_ns = t->empty_ns = t->charged.ns = t->greenlets.since_ns = s->time;
	t->first_cycles = t->empty_cycles = t->charged.cycles = s->cycles;
}

/*
 * The thread's tracing ended at its last sample and begins again at this one: the time in between counts for nothing.
 */
int thread_restart(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	end_time(t, to->profile);
	charge_last(&t->charged, t->last_ns, t->last_cycles, to->profile);
	err = thread_close_all(t, LEAVE_END, to) ?: thread_lose_spans(t, to);
	label_data_forget(&t->data);
	requests_lose(&to->profile->requests);
	objects_lose(t->objects);
	thread_lose_greenlets(t);
	thread_end_outside(t, t->last_ns, t->last_cycles, to->profile);
	thread_begin(t, s);
	return err;
}

/*
 * A segment of a flight recorder: how what was open before it ended was not seen; what is open at its end runs until
 * then.
 */
int thread_segment(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err = 0;

	if (s->ends) {
		err = was_off(t, cpu_until(&t->cpu, s->time, t->last_ns), s->time, to);
		stand_at(t, s);
	}
	return err ?: thread_restart(t, s, to) ?: SUBSCRIBERS_CALL(to, segment, s);
}

static void end_flights_of(const struct stack *stacks)
{
	for (const struct stack *st = stacks; st; st = st->next)
		if (st->flights)
			flights_end(st->flights);
}

int thread_finish(struct thread *t, const struct subscribers *to)
{
	int err = thread_tell_passed(t, to);

	end_time(t, to->profile);
	off_add(&to->profile->traced_off, t->off);
	thread_end_outside(t, t->last_ns, t->last_cycles, to->profile);
	charge_last(&t->charged, t->last_ns, t->last_cycles, to->profile);
	err = err ?: thread_close_all(t, LEAVE_END, to);
	thread_lose_greenlets(t);
	err = err ?: greenlets_finish(&t->greenlets, &to->profile->greenlets);
	end_flights_of(t->stacks);
	end_flights_of(t->greenlets.spare);
	return err ?: thread_lose_spans(t, to) ?: thread_lose_wholes(t, to);
}
