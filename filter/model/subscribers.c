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

#define LINK(fn) \
	do { \
		struct sink **last = &a.first.fn; \
		for (struct sink *s = sinks; s; s = s->next) \
			last = link_to(last, s, s->ops->fn, &s->after.fn); \
		*last = NULL; \
	} while (0)
	LINK(sample);
	LINK(enter);
	LINK(leave);
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
	return a;
}
