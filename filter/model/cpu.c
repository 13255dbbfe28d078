// SPDX-License-Identifier: MIT
/* The words come in the thread's own order, but may be missing, or have been damaged. */
#include "cpu.h"

#include "shared/marker.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct off cpu_until(struct cpu *c, uint64_t ns, uint64_t last_ns)
{
	uint64_t from = later(c->since_ns, last_ns);
	struct off d = { 0 };

	if (!c->out || ns <= from)
		return d;
	d.ns = ns - from;
	d.waiting_ns = c->preempted ? 0 : d.ns;
	c->since_ns = ns;
	if (c->tail_ns != last_ns)
		c->tail = (struct off){ 0 };
	c->tail_ns = last_ns;
	off_add(&c->tail, d);
	return d;
}

/* The beginning of a chunk repeats the last word. */
static bool is_still_out(const struct cpu *c, uint64_t payload, uint64_t last_ns)
{
	return c->out && last_ns <= c->since_ns && !(payload & MARKER_CPU_LOST);
}

struct off cpu_word(struct cpu *c, uint64_t payload, uint64_t ns, uint64_t last_ns)
{
	bool in = payload & MARKER_CPU_IN;
	struct off d = { 0 };

	c->lost |= payload == MARKER_CPU_ENDS;
	c->known = !c->lost;
	if (c->lost) {
		c->out = false;
		return d;
	}
	if (in && !(payload & MARKER_CPU_LOST))
		d = cpu_until(c, ns, last_ns);
	if (in || !is_still_out(c, payload, last_ns)) {
		c->preempted = payload & MARKER_CPU_PREEMPTED;
		c->since_ns = later(ns, c->since_ns);
	}
	c->out = !in;
	return d;
}

struct off cpu_tail(const struct cpu *c, uint64_t last_ns)
{
	return c->tail_ns == last_ns ? c->tail : (struct off){ 0 };
}

void cpu_restart(struct cpu *c)
{
	*c = (struct cpu){ .known = c->known, .lost = c->lost };
}

void used_word(struct used *u, uint64_t ns)
{
	if (!u->begun)
		u->first_ns = ns;
	u->begun = true;
	u->last_ns = later(ns, u->last_ns);
}

void used_end(struct used *u)
{
	u->ns += u->last_ns - u->first_ns;
	u->begun = false;
	u->first_ns = u->last_ns = 0;
}
