// SPDX-License-Identifier: MIT
#include "waits.h"

#include "shared/marker.h"

const char *wait_name(enum wait_kind kind)
{
	static const char *const names[WAIT_KINDS] = {
#define W(number, name, text) [number] = text,
		OCULAR_WAITS(W)
#undef W
	};

	return kind < WAIT_KINDS && names[kind] ? names[kind] : names[WAIT_FOR_OTHER];
}

void wait_total_add(struct wait_total *t, uint64_t ns)
{
	t->n++;
	t->ns += ns;
	if (ns > t->longest_ns)
		t->longest_ns = ns;
}

void wait_total_join(struct wait_total *t, const struct wait_total *more)
{
	t->n += more->n;
	t->ns += more->ns;
	if (more->longest_ns > t->longest_ns)
		t->longest_ns = more->longest_ns;
}

void waits_add(struct waits *w, enum wait_kind kind, uint64_t ns)
{
	wait_total_add(&w->of[kind], ns);
}

void waits_join(struct waits *w, const struct waits *more)
{
	for (int kind = 0; kind < WAIT_KINDS; kind++)
		wait_total_join(&w->of[kind], &more->of[kind]);
}

struct waits waits_minus(const struct waits *from, const struct waits *less)
{
	struct waits left = *from;

	for (int kind = 0; kind < WAIT_KINDS; kind++) {
		left.of[kind].n -= less->of[kind].n;
		left.of[kind].ns -= less->of[kind].ns;
	}
	return left;
}

uint64_t waits_ns(const struct waits *w)
{
	uint64_t ns = 0;

	for (int kind = 0; kind < WAIT_KINDS; kind++)
		ns += w->of[kind].ns;
	return ns;
}

enum wait_kind waits_most(const struct waits *w)
{
	int most = 0;

	for (int kind = 1; kind < WAIT_KINDS; kind++)
		if (w->of[kind].ns > w->of[most].ns)
			most = kind;
	return (enum wait_kind)most;
}

enum wait_kind wait_word(struct wait *w, uint64_t payload, uint64_t ns, uint64_t waiting_ns, struct wait_time *t)
{
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;
	struct wait was = *w;

	if (!kind || kind >= WAIT_KINDS)
		kind = WAIT_FOR_OTHER;
	*w = (struct wait){ payload & MARKER_WAIT_BEGINS ? kind : 0, ns, waiting_ns, payload & MARKER_PLACE_MAX };
	t->ns = ns > was.since_ns ? ns - was.since_ns : 0;
	t->waiting_ns = waiting_ns - was.waiting_ns;
	t->place = payload & MARKER_PLACE_MAX;
	return w->kind || was.kind != kind ? 0 : (enum wait_kind)kind;
}
