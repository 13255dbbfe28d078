// SPDX-License-Identifier: MIT
/* Makes a list for each callback, of the sinks that have it. */
#include "subscribers.h"

/* last is where the next subscriber is linked. */
static struct sink **link_to(struct sink **last, struct sink *s, bool listens, struct sink **after)
{
	if (!listens)
		return last;
	*last = s;
	return after;
}

struct subscribers subscribers_of(struct sink *sinks, struct profile *profile)
{
	struct subscribers a = { .sinks = sinks, .profile = profile };

	for (struct sink *s = sinks; s; s = s->next)
		s->profile = profile;

#define LINK_IF(fn, listens) \
	do { \
		struct sink **last = &a.first.fn; \
		for (struct sink *s = sinks; s; s = s->next) \
			last = link_to(last, s, listens, &s->after.fn); \
		*last = NULL; \
	} while (0)
#define LINK(fn) LINK_IF(fn, s->ops->fn)
	LINK(sample);
	LINK(passed);
	LINK(plain);
	LINK(enter);
	LINK(leave);
	LINK_IF(call, s->ops->call || s->ops->enter || s->ops->leave);
	LINK(calls);
	LINK(resume);
	LINK(iterate);
	LINK(off);
	LINK(gap);
	LINK(exception);
	LINK(label);
	LINK(span);
	LINK(task);
	LINK(segment);
	LINK(second);
#undef LINK
#undef LINK_IF
	a.no_loops = a.only_times = sinks != NULL;
	for (const struct sink *s = sinks; s; s = s->next) {
		a.no_loops &= s->ops->no_loops && !s->ops->part; /* beside parts, sinks that have none are not listed */
		a.only_times &= s->ops->only_times && !s->ops->part;
	}
	a.apart = a.first.iterate || a.first.plain;
	for (const struct sink *s = a.first.call; s; s = s->after.call)
		a.apart |= !s->ops->calls;
	a.only_plain = true;
	for (const struct sink *s = a.first.sample; s; s = s->after.sample)
		a.only_plain &= s->ops->plain != NULL;
	return a;
}

int subscribers_call(const struct subscribers *to, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	int err = 0;

	for (struct sink *k = to->first.call; k && !err; k = k->after.call) {
		const struct sink_ops *ops = k->ops;

		if (ops->call) {
			err = ops->call(k, a, end_ns, end_cycles);
			continue;
		}
		err = ops->enter ? ops->enter(k, a) : 0;
		if (!err && ops->leave)
			err = ops->leave(k, a, LEAVE_RETURN, end_ns, end_cycles);
	}
	return err;
}

static uint64_t quiet_until(struct sink *s, int32_t pid, int32_t tid)
{
	if (s->ops->plain)
		return UINT64_MAX;
	return s->ops->quiet_until ? s->ops->quiet_until(s, pid, tid) : 0;
}

uint64_t subscribers_quiet_until(const struct subscribers *to, int32_t pid, int32_t tid)
{
	uint64_t until = UINT64_MAX;

	for (struct sink *k = to->first.sample; k && until; k = k->after.sample) {
		uint64_t ns = quiet_until(k, pid, tid);

		until = ns < until ? ns : until;
	}
	return until;
}

static bool hears_events(const struct sink_ops *o)
{
	return o->sample || o->passed || o->enter || o->leave || o->call || o->resume || o->iterate || o->off ||
	       o->exception || o->label || o->span || o->task || o->gap || o->second;
}

bool subscribers_need_all(const struct subscribers *to)
{
	for (const struct sink *s = to->sinks; s; s = s->next)
		if (hears_events(s->ops) && !s->ops->part)
			return true;
	return false;
}

bool subscribers_by_process(const struct subscribers *to)
{
	for (const struct sink *s = to->sinks; s; s = s->next)
		if (s->by_process)
			return true;
	return false;
}

int subscribers_parts(const struct subscribers *of, struct sink **parts)
{
	struct sink **end = parts;
	int err = 0;

	*parts = NULL;
	for (struct sink *s = of->sinks; s && !err; s = s->next) {
		if (!s->ops->part)
			continue;
		err = s->ops->part(end, s);
		if (err)
			break;
		(*end)->of = s;
		end = &(*end)->next;
	}
	return err;
}

void subscribers_heard(const struct subscribers *to)
{
	for (struct sink *s = to->sinks; s; s = s->next)
		if (s->ops->heard)
			s->ops->heard(s);
}

int subscribers_join(const struct subscribers *parts)
{
	int err = 0;

	for (struct sink *s = parts->sinks; s && !err; s = s->next)
		err = s->of->ops->join(s->of, s);
	return err;
}
