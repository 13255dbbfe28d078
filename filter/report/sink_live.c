// SPDX-License-Identifier: MIT
/*
 * A second is what the totals have more than was told before. So the sums of all lines are the totals, whatever the
 * time of an event was, and nothing is kept but what was told of each function, loop, thread ...
 */
#include "sink_live.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "live_callers.h"
#include "live_parts.h"
#include "model/sink_file.h"

struct live {
	struct sink_file file;
	struct live_told told;
	struct live_callers *callers; /* NULL: nobody asks for any */
	uint64_t events, lost, damaged;
	uint64_t ns; /* up to when */
};

static uint64_t events_of(const struct profile *p)
{
	uint64_t n = 0;

	for (unsigned op = 0; op <= OP_EVENT_LAST; op++)
		n += p->events[op];
	return n;
}

/* What became more since the last time. */
static json_int_t since(uint64_t *told, uint64_t now)
{
	uint64_t before = *told;

	*told = now;
	return now - before;
}

/* Of the processes that are known so far the most; 0: the time was read for each marker. */
static uint32_t coarse_of(const struct codes *c)
{
	uint32_t most = 0;

	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));) {
		const struct process *p = s->value;

		most = p->coarse > most ? p->coarse : most;
	}
	return most;
}

static json_t *line_of(struct live *l, const struct profile *p, uint64_t ns)
{
	const uint32_t coarse = coarse_of(p->codes);
	json_t *line = json_pack("{s:I,s:I,s:I,s:I}", "time_ns", (json_int_t)ns, "events",
				 since(&l->events, events_of(p)), "lost", since(&l->lost, p->lost_markers), "damaged",
				 since(&l->damaged, p->damaged));

	if (line && coarse)
		json_object_set_new(line, "coarse", json_integer(coarse));
	line = json_join(line, live_parts(&l->told, p));
	return l->callers ? json_join(line, live_callers_json(l->callers)) : line;
}

static int live_second(struct sink *s, const struct profile *p, uint64_t ns)
{
	struct live *l = (struct live *)s;
	json_t *line = line_of(l, p, l->ns = ns);
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	if (!text)
		return sink_file_no_memory(s);
	out_put(&l->file.out, text, strlen(text));
	out_put(&l->file.out, "\n", 1);
	free(text);
	out_flush(&l->file.out);
	if (l->callers && live_callers_hear(l->callers))
		return sink_file_no_memory(s);
	return sink_file_status(s);
}

/* The rest of the last second, which begins where the one before it ended, even if only late words are in it. */
static int live_finish(struct sink *s, const struct profile *p)
{
	const struct live *l = (const struct live *)s;
	int err = live_second(s, p, p->end_ns > l->ns ? p->end_ns : l->ns);

	return err ?: sink_file_close(s);
}

static void live_free(struct sink *s)
{
	struct live *l = (struct live *)s;

	live_told_free(&l->told);
	if (l->callers)
		live_callers_free(l->callers);
	free(l->callers);
	sink_file_free(s);
}

static const struct sink_ops live_ops = {
	.only_times = true, .second = live_second, .finish = live_finish, .free = live_free
};

static int live_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		      uint64_t end_cycles)
{
	(void)how;
	(void)end_cycles;
	return live_callers_leave(((struct live *)s)->callers, a, end_ns) ? sink_file_no_memory(s) : 0;
}

/* Costs time for each call. */
static const struct sink_ops callers_ops = {
	.leave = live_leave, .second = live_second, .finish = live_finish, .free = live_free
};

int sink_live_open(struct sink **out, const struct sink_options *o, char *error)
{
	struct live_callers *callers = o->callers ? calloc(1, sizeof(*callers)) : NULL;
	int err = sink_file_open(out, sizeof(struct live), callers ? &callers_ops : &live_ops, o, error);

	if (err)
		free(callers);
	else
		((struct live *)*out)->callers = callers;
	return err;
}
