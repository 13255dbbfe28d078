// SPDX-License-Identifier: MIT
#include "sink_calls.h"

static int calls_enter(struct sink *s, const struct activation *a)
{
	int err = calltree_enter(&((struct sink_calls *)s)->tree, a);

	return err ? sink_file_no_memory(s) : 0;
}

static int calls_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		       uint64_t end_cycles)
{
	int err = calltree_leave(&((struct sink_calls *)s)->tree, a, end_ns, end_cycles);

	(void)how;
	return err ? sink_file_no_memory(s) : 0;
}

static int calls_finish(struct sink *s, const struct profile *p)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = c->write(c, p);

	return err ? sink_file_no_memory(s) : sink_file_close(s);
}

static void calls_free(struct sink *s)
{
	calltree_free(&((struct sink_calls *)s)->tree);
	sink_file_free(s);
}

static const struct sink_ops calls_ops = {
	.enter = calls_enter,
	.leave = calls_leave,
	.finish = calls_finish,
	.free = calls_free,
};

int sink_calls_open(struct sink **out, const struct sink_options *o, char *error,
		    int (*write)(struct sink_calls *s, const struct profile *p))
{
	int err = sink_file_open(out, sizeof(struct sink_calls), &calls_ops, o, error);

	if (!err)
		((struct sink_calls *)*out)->write = write;
	return err;
}
