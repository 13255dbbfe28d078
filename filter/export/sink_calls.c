// SPDX-License-Identifier: MIT
#include "sink_calls.h"

#include <inttypes.h>

#include "model/profile.h"

static bool is_passed(const struct sink_calls *c, const struct code *code)
{
	return c->profiled && code->c && !code->profiled;
}

static int calls_enter(struct sink *s, const struct activation *a)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = is_passed(c, a->code) ? 0 : calltree_enter(&c->tree, a);

	return err ? sink_file_no_memory(s) : 0;
}

static int calls_resume(struct sink *s, const struct activation *a)
{
	return calltree_resume(&((struct sink_calls *)s)->tree, a) ? sink_file_no_memory(s) : 0;
}

static int calls_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
		       uint64_t end_cycles)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = (is_passed(c, a->code) ? calltree_pass : calltree_leave)(&c->tree, a, end_ns, end_cycles);

	(void)how;
	return err ? sink_file_no_memory(s) : 0;
}

/* Beside functions, in files that may have anything in a stack. */
static int calls_label(struct sink *s, const struct label_mark *m)
{
	struct sink_calls *c = (struct sink_calls *)s;
	int err = 0;

	if (c->with_spans && m->what == LABEL_BEGIN)
		err = calltree_begin_span(&c->tree, m);
	else if (c->with_spans && m->what == LABEL_END)
		err = calltree_end_span(&c->tree, m);
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
	.resume = calls_resume,
	.leave = calls_leave,
	.label = calls_label,
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

void sink_calls_thread(FILE *f, const struct profile *p, const struct call_root *r)
{
	const struct process *process = codes_process(p->codes, r->tstate.pid);
	const char *name = process ? process_thread_name(process, r->tstate.tid) : NULL;

	if (!name)
		name = r->tstate.pid == r->tstate.tid ? "main" : "thread";
	fprintf(f, "%s (pid %d, tid %d", name, r->tstate.pid, r->tstate.tid);
	if (r->tstate.interpreter)
		fprintf(f, ", interpreter %" PRIu32, r->tstate.interpreter);
	fputc(')', f);
}
