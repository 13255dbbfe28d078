// SPDX-License-Identifier: MIT
#include "states.h"

#include "shared/marker.h"

static const char *const waiting[WAIT_KINDS] = { [0] = "waiting",
#define W(number, name, text) [number] = "waiting: " text,
						 OCULAR_WAITS(W)
#undef W
};

static const char *waiting_for(unsigned kind)
{
	return kind < WAIT_KINDS && waiting[kind] ? waiting[kind] : waiting[WAIT_FOR_OTHER];
}

static const char *name_of(const struct states *s)
{
	return s->in ? "running" : s->preempted ? "runnable" : waiting_for(s->wait);
}

static struct stretch until(const struct states *s, uint64_t ns)
{
	return (struct stretch){
		.name = name_of(s), .from = s->since_ns, .until = ns, .cpu = s->in ? s->cpu : STATES_NO_CPU
	};
}

/* After switches were lost, it is not known when what it did before them ended; but where they end, it did so. */
bool states_cpu(struct states *s, uint64_t payload, uint64_t ns, struct stretch *done)
{
	bool in = payload & MARKER_CPU_IN, lost = payload & MARKER_CPU_LOST;
	bool ends = payload == MARKER_CPU_ENDS;
	bool over = s->known && (ends || (!lost && s->in != in)) && ns > s->since_ns;

	if (s->known && !lost && s->in == in) /* the beginning of a chunk repeats the last one */
		return false;
	if (over)
		*done = until(s, ns);
	s->known = !ends;
	s->in = in;
	s->preempted = payload & MARKER_CPU_PREEMPTED;
	s->cpu = (uint16_t)payload;
	s->since_ns = ns;
	return over;
}

bool states_wait(struct states *s, uint64_t payload, uint64_t ns, struct stretch *done)
{
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;
	bool begins = payload & MARKER_WAIT_BEGINS, over = !begins && !s->known && s->wait && ns > s->wait_ns;

	kind = kind && kind < WAIT_KINDS ? kind : WAIT_FOR_OTHER;
	if (over)
		*done = (struct stretch){
			.name = waiting_for(s->wait), .from = s->wait_ns, .until = ns, .cpu = STATES_NO_CPU
		};
	s->wait = begins ? (uint8_t)kind : 0;
	s->wait_ns = ns;
	return over;
}

bool states_end(struct states *s, uint64_t ns, struct stretch *done)
{
	bool over = s->known && ns > s->since_ns;

	if (over)
		*done = until(s, ns);
	*s = (struct states){ 0 };
	return over;
}

bool states_lets_go(uint64_t payload)
{
	return payload & MARKER_WAIT_BEGINS && (payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK) != WAIT_FOR_RING;
}

static bool let_go(struct holder *h, uint64_t ns, struct stretch *done)
{
	bool over = h->held && h->many && ns > h->from_ns;

	if (over)
		*done = (struct stretch){ .from = h->from_ns, .until = ns, .cpu = STATES_NO_CPU, .tid = h->tid };
	return over;
}

bool holder_event(struct holder *h, int32_t tid, uint64_t ns, struct stretch *done)
{
	bool over;

	if (h->held && h->tid == tid)
		return false;
	h->many |= h->first && h->first != tid;
	over = let_go(h, ns, done);
	*h = (struct holder){ true, h->many, h->first ? h->first : tid, tid, ns };
	return over;
}

bool holder_waits(struct holder *h, int32_t tid, uint64_t ns, struct stretch *done)
{
	bool over = h->held && h->tid == tid && let_go(h, ns, done);

	h->held &= h->tid != tid;
	return over;
}
