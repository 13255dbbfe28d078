// SPDX-License-Identifier: MIT
/*
 * What has yielded waits in a map by its address for what becomes of it, as in model/objects.c: when another object is
 * at the address the first is no more. So memory grows with the objects that are alive, not with all that were.
 */
#include "sink_objects.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "model/objects.h"
#include "model/sink_file.h"

/* Room for the numbers, tabs and words of one line. */
#define LINE_NUMBERS 256

/* serial 0: there is none at this address. */
struct lived {
	uint64_t serial, begun_ns, last_ns; /* until when it ran last */
	uint64_t total_ns, self_ns, suspended_ns, suspensions;
	int32_t pid;
	bool older, yielded; /* else its greenlet was switched away */
	const struct code *code;
	struct called called;
};

struct objects_file {
	struct sink_file file;
	struct map processes; /* pid -> struct map, by address -> struct lived */
	uint64_t untold;      /* so many are there by their number: they have not told an address yet */
	struct lived ending;
};

static const char *kind_of(const struct code *code)
{
	return code->coroutine ? "coroutine" : "generator";
}

static char *put(char *to, int64_t n)
{
	to = out_int(to, n);
	*to++ = '\t';
	return to;
}

static char *put_text(char *to, const char *s)
{
	to = text_escaped(to, s);
	*to++ = '\t';
	return to;
}

/* ended: how. */
static int write_line(struct objects_file *f, const struct lived *l, const char *ended)
{
	char text[CALLED_TEXT];
	const char *task = called_text(&l->called, text);
	size_t names = strlen(l->code->file) + strlen(l->code->qualname) + strlen(task);
	char *to = out_reserve(&f->file.out, LINE_NUMBERS + TEXT_ESCAPED * names);

	if (!to)
		return sink_file_status(&f->file.sink);
	to = put(to, l->pid);
	to = put(to, l->serial);
	to = put_text(to, kind_of(l->code));
	to = put_text(to, l->code->file);
	to = put_text(to, l->code->qualname);
	to = put(to, l->code->firstlineno);
	to = l->older ? put_text(to, "") : put(to, l->begun_ns);
	to = put(to, l->last_ns);
	to = put_text(to, ended);
	to = put(to, l->total_ns);
	to = put(to, l->self_ns);
	to = put(to, l->suspended_ns);
	to = put(to, l->suspensions);
	to = text_escaped(to, task);
	*to++ = '\n';
	out_commit(&f->file.out, to);
	return sink_file_status(&f->file.sink);
}

/* What became of it if no more of it is seen. */
static const char *rest_of(const struct lived *l)
{
	return l->yielded ? "suspended" : "away";
}

/* What is kept under this key: an address, of 44 bits, or ~ a serial number. NULL: nothing. */
static struct lived *kept(const struct objects_file *f, int32_t pid, uint64_t key)
{
	const struct map *m = map_get(&f->processes, (uint32_t)pid);

	return m ? map_get(m, key) : NULL;
}

/* The same, with room for it if there is nothing. NULL: no memory. */
static struct lived *keep(struct objects_file *f, int32_t pid, uint64_t key)
{
	struct map *m = map_get(&f->processes, (uint32_t)pid) ?: map_add(&f->processes, (uint32_t)pid, sizeof(*m));

	return m ? map_get(m, key) ?: map_add(m, key, sizeof(struct lived)) : NULL;
}

/* A process that becomes another program has serial numbers anew. */
static bool is_same(const struct lived *l, const struct object *o)
{
	return l->serial == o->serial && l->code == o->code && l->begun_ns == o->begun_ns;
}

static void begin(struct lived *l, const struct activation *a)
{
	const struct object *o = a->object;

	*l = (struct lived){
		.serial = o->serial, .begun_ns = o->begun_ns, .pid = a->pid, .older = o->older, .code = o->code
	};
}

/* One stretch of its life more. */
static void ran(struct lived *l, const struct activation *a, uint64_t end_ns)
{
	uint64_t ns = end_ns - a->start_ns;

	if (l->yielded)
		l->suspended_ns += a->start_ns - l->last_ns;
	l->last_ns = end_ns;
	l->total_ns += ns;
	l->self_ns += ns - a->callee_ns;
	if (a->object->called.name || a->object->called.number)
		l->called = a->object->called;
}

/* What ran before it had told its address, and then was switched away with its greenlet. NULL: nothing. */
static struct lived *take_untold(struct objects_file *f, const struct activation *a)
{
	struct lived *l = f->untold ? kept(f, a->pid, ~a->object->serial) : NULL;

	if (!l || !is_same(l, a->object))
		return NULL;
	f->untold--;
	return l;
}

/* All that is known of it, in the place that is its from now on; what was there before is no more. NULL: it failed. */
static struct lived *known(struct objects_file *f, const struct activation *a, bool stays)
{
	const struct object *o = a->object;
	struct lived *untold = take_untold(f, a), *l = &f->ending;

	if (o->address || stays)
		l = keep(f, a->pid, o->address ?: ~o->serial);
	if (!l || (l != &f->ending && l->serial && !is_same(l, o) && write_line(f, l, rest_of(l))))
		return NULL;
	if (untold && untold != l) {
		*l = *untold;
		untold->serial = 0;
	} else if (!is_same(l, o)) {
		begin(l, a);
	}
	f->untold += stays && !o->address;
	return l;
}

static int leave(struct sink *sink, const struct activation *a, enum leave_how how, uint64_t end_ns,
		 uint64_t end_cycles)
{
	static const char *const ended[] = { [LEAVE_RETURN] = "returned",
					     [LEAVE_UNWIND] = "raised",
					     [LEAVE_GAP] = "lost",
					     [LEAVE_END] = "running",
					     [LEAVE_YIELD] = "unknown" };
	struct objects_file *f = (struct objects_file *)sink;
	bool stays = how == LEAVE_AWAY || (how == LEAVE_YIELD && a->object && a->object->address);
	struct lived *l = a->object ? known(f, a, stays) : NULL;
	int err;

	(void)end_cycles;
	if (!a->object)
		return 0;
	if (!l)
		return f->file.out.err ? sink_file_status(sink) : sink_file_no_memory(sink);
	ran(l, a, end_ns);
	l->yielded = how == LEAVE_YIELD;
	l->suspensions += l->yielded;
	if (stays)
		return 0;
	err = write_line(f, l, ended[how]);
	l->serial = 0;
	return err;
}

/* Those of which no more was seen. */
static int finish(struct sink *sink, const struct profile *p)
{
	struct objects_file *f = (struct objects_file *)sink;
	int err = 0;

	(void)p;
	for (struct map_slot *m = NULL; (m = map_next(&f->processes, m));)
		for (struct map_slot *s = NULL; !err && (s = map_next(m->value, s));)
			if (((struct lived *)s->value)->serial)
				err = write_line(f, s->value, rest_of(s->value));
	return err ?: sink_file_close(sink);
}

static void free_all(struct sink *sink)
{
	struct objects_file *f = (struct objects_file *)sink;

	for (struct map_slot *m = NULL; (m = map_next(&f->processes, m));)
		map_free_all(m->value);
	map_free_all(&f->processes);
	sink_file_free(sink);
}

int sink_objects_open(struct sink **out, const struct sink_options *o, char *error)
{
	static const char head[] =
		"# ocular objects 1\npid\tobject\tkind\tfile\tqualname\tline\tbegun_ns\tended_ns\tended\t"
		"total_ns\tself_ns\tsuspended_ns\tsuspensions\ttask\n";
	static const struct sink_ops ops = { .leave = leave, .finish = finish, .free = free_all };
	int err = sink_file_open(out, sizeof(struct objects_file), &ops, o, error);

	if (!err)
		out_put(&((struct sink_file *)*out)->out, head, sizeof(head) - 1);
	return err;
}
