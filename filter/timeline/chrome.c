// SPDX-License-Identifier: MIT
/*
 * An event is a few constant pieces around a time. What depends on the code object, the loop or the thread is rendered
 * once and copied from then on, so an event costs a number in decimal and some memcpy.
 *
 * What viewers require beyond the format's description:
 * - a plain array: cut short it still loads, an object does not;
 * - times in microseconds since the start of the trace (epoch times would fall on a 256 ns grid of
 *   doubles), never negative (dropped);
 * - B and E with one name. What is known at the end stands in the args of E alone: catapult warns of an
 *   arg that both have;
 * - speedscope tells frames apart by name and args, so each call would be a frame of its own, and E would
 *   not match B. But if the args of the very first event are those of a trace by Hermes (React Native's
 *   engine), it goes by name, and by args.url, line and column, which ours have not: HERMES;
 * - no displayTimeUnit: older engines scale by it.
 */
#include "chrome.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cold.h"
#include "perfetto.h"

/* Numbers and constant text of one event at most. */
#define EVENT_ROOM 256

/* The same for an E, for which room may be kept many times: five numbers of 20 digits, and 110 bytes around them. */
#define END_ROOM 232

#define HERMES \
	"\"name\":\"process_labels\",\"args\":{\"labels\":\"Ocular\",\"name\":\"\",\"category\":\"\"," \
	"\"url\":\"\",\"line\":0,\"column\":0,\"params\":\"\",\"allocatedCategory\":\"\"," \
	"\"allocatedName\":\"\"}"

struct chrome {
	bool any; /* an event was written: the next needs a comma */
	/* The digits of the time of the newest event before its last six: most events have the same. */
	uint64_t ms;
	char ms_digits[OUT_DIGITS + 3];
	unsigned ms_length;
	struct map codes, begins, ends; /* struct code -> struct rendered */
	struct map trips;		/* struct loop -> struct rendered */
	struct map opcodes, functions;	/* name of an opcode, struct code -> struct rendered */
};

static int no_memory(struct timeline *v)
{
	return sink_file_no_memory(&v->file.sink);
}

static int chrome_open(struct timeline *v)
{
	v->own = calloc(1, sizeof(struct chrome));
	if (!v->own)
		return no_memory(v);
	out_put(&v->file.out, "[", 1);
	return 0;
}

static int identify(struct timeline *v, struct track *t)
{
	int length;

	if (t->ids.text)
		return 0;
	/* Unknown ones are 0: Perfetto accepts no negative ids. */
	length = asprintf(&t->ids.text, "\"pid\":%d,\"tid\":%d,", t->pid < 0 ? 0 : t->pid, t->tid < 0 ? 0 : t->tid);
	if (length < 0) {
		t->ids.text = NULL;
		return no_memory(v);
	}
	t->ids.length = length;
	return 0;
}

/* What each event begins with, up to its time; those without one have other members there. */
#define HEAD  "\n{\"ph\":\"?\","
#define TIMED HEAD "\"ts\":"

static char *put_phase(struct timeline *v, char *to, char phase)
{
	struct chrome *c = v->own;

	*to = ','; /* overwritten, if it is the first */
	to += c->any;
	c->any = true;
	memcpy(to, TIMED, strlen(TIMED));
	to[strlen(HEAD) - strlen("?\",")] = phase;
	return to + strlen(HEAD);
}

/* As out_us(). */
static char *put_time(struct chrome *c, char *to, uint64_t ns)
{
	uint64_t ms = ns / 1000000;

	if (!ms)
		return out_us(to, ns);
	if (ms != c->ms) {
		c->ms = ms;
		c->ms_length = out_dec(c->ms_digits, ms) - c->ms_digits;
	}
	memcpy(to, c->ms_digits, sizeof(c->ms_digits)); /* all of it: that takes no loop */
	return out_six(to + c->ms_length, ns - ms * 1000000);
}

static char *put_head(struct timeline *v, char *to, char phase, const struct track *t, uint64_t ns)
{
	to = put_time(v->own, put_phase(v, to, phase) + strlen("\"ts\":"), ns);
	*to++ = ',';
	return rendered_put(to, &t->ids);
}

/* The array's first event: see above. */
static int introduce(struct timeline *v, struct track *t)
{
	int err;
	char *to = timeline_room(v, EVENT_ROOM + sizeof(HERMES) + t->ids.length, &err);

	if (!to)
		return err;
	to = stpcpy(rendered_put(put_phase(v, to, 'M'), &t->ids), HERMES);
	*to++ = '}';
	out_commit(&v->file.out, to);
	return 0;
}

/* Opens an event with room for `more` bytes of pieces: its members up to the time. */
static int open_event(struct timeline *v, char phase, struct track *t, uint64_t ns, size_t more, char **to)
{
	struct chrome *c = v->own;
	int err = identify(v, t);

	if (!err && !c->any)
		err = introduce(v, t);
	if (err)
		return err;
	*to = timeline_room(v, EVENT_ROOM + t->ids.length + more, &err);
	if (!*to)
		return err;
	*to = put_head(v, *to, phase, t, ns);
	return 0;
}

static int close_event(struct timeline *v, char *to)
{
	*to++ = '}';
	out_commit(&v->file.out, to);
	return 0;
}

/* An event that is all piece. */
static int write_piece(struct timeline *v, char phase, struct track *t, uint64_t ns, const struct rendered *piece)
{
	char *to;
	int err = piece ? open_event(v, phase, t, ns, piece->length, &to) : no_memory(v);

	return err ? err : close_event(v, rendered_put(to, piece));
}

static int chrome_code(struct timeline *v, struct track *t, uint64_t ns, const struct code *code)
{
	struct chrome *c = v->own;

	return write_piece(v, 'i', t, ns, rendered_get(&c->codes, code, perfetto_code));
}

static COLD int draw(struct timeline *v, struct drawn *d, const struct code *code)
{
	struct chrome *c = v->own;

	d->begin = rendered_get(&c->begins, code, perfetto_begin);
	d->end = rendered_get(&c->ends, code, perfetto_end);
	return d->begin && d->end ? 0 : no_memory(v);
}

static int chrome_begin(struct timeline *v, struct track *t, struct span *span)
{
	struct drawn *d = span->drawn;
	int err = d->begin ? 0 : draw(v, d, span_of(span));

	err = err ?: identify(v, t);
	if (err)
		return err;
	/* Room is checked for both: a beginning without its end would be a slice without one. */
	span->reserved = END_ROOM + t->ids.length + ((const struct rendered *)d->end)->length;
	v->reserved += span->reserved;
	err = write_piece(v, 'B', t, span->shown, d->begin);
	v->reserved -= span->reserved;
	return err;
}

static char *put_args(char *to, const struct span *span, uint64_t ns, uint64_t cycles)
{
	to = stpcpy(to, ",\"args\":{");
	if (span->calls)
		to = stpcpy(out_dec(stpcpy(to, "\"calls\":"), span->calls), ",");
	to = out_dec(stpcpy(to, "\"cycles\":"), cycles);
	if (span->off.ns) {
		to = out_dec(stpcpy(to, ",\"cpu_ns\":"), span_cpu(span, ns));
		to = out_dec(stpcpy(to, ",\"waiting_ns\":"), span->off.waiting_ns);
	}
	*to++ = '}';
	return to;
}

/* Its room was reserved: the file cannot be full. */
static int chrome_end(struct timeline *v, struct track *t, const struct span *span, uint64_t ns, uint64_t cycles)
{
	const struct rendered *end = span->drawn->end;
	char *to = out_reserve(&v->file.out, END_ROOM + t->ids.length + end->length);

	if (!to)
		return no_memory(v);
	to = rendered_put(put_head(v, to, 'E', t, ns), end);
	return close_event(v, put_args(to, span, ns, cycles));
}

/* A tenth of a ns more: engines that compute in doubles would otherwise truncate it half the time. */
static char *put_duration(char *to, uint64_t ns)
{
	to = out_us(stpcpy(to, "\"dur\":"), ns);
	*to++ = '1';
	return to;
}

static char *put_trip(const struct timeline *v, char *to, const struct rendered *piece, const struct trip *trip)
{
	to = rendered_put(to, piece);
	if (trip->uops) /* 0: the bytecode is not known */
		to = stpcpy(out_dec(stpcpy(to, "\"uOps\":"), trip->uops), ",");
	*to++ = '"';
	to = stpcpy(to, perfetto_cycles[perfetto_cycles_of(v->file.sink.profile, trip->loop)]);
	to = out_dec(stpcpy(to, "\":"), trip->cycles);
	to = out_dec(stpcpy(to, ",\"trip\":"), trip->number);
	*to++ = '}';
	return to;
}

/* Not an X, as in chrome_stretch(). */
static int write_loop_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns,
			   const struct rendered *piece)
{
	size_t end = EVENT_ROOM + t->ids.length + piece->length;
	char *to;
	int err;

	v->reserved += end;
	err = open_event(v, 'B', t, from, piece->length, &to);
	v->reserved -= end;
	if (err)
		return err;
	close_event(v, put_trip(v, to, piece, trip));
	err = open_event(v, 'E', t, ns, piece->length, &to);
	return err ? err : close_event(v, stpcpy(rendered_put(to, piece), "}"));
}

static int chrome_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns)
{
	struct chrome *c = v->own;
	const struct rendered *piece = rendered_get(&c->trips, trip->loop, perfetto_trip);
	bool slice = v->iterations == ITERATIONS_SLICES;
	char *to;
	int err = piece ? identify(v, t) : no_memory(v);

	if (!err && t->of_loop)
		return write_loop_trip(v, t, trip, from, ns, piece);
	err = err ?: open_event(v, slice ? 'X' : 'i', t, from, piece->length, &to);
	if (err)
		return err;
	to = slice ? put_duration(to, ns - from) : stpcpy(to, "\"s\":\"t\"");
	*to++ = ',';
	return close_event(v, put_trip(v, to, piece, trip));
}

static int chrome_opcode(struct timeline *v, struct track *t, const struct running *r, uint64_t ns, uint64_t cycles)
{
	struct chrome *c = v->own;
	const char *opname = process_opname(r->code->process, r->opcode);
	const struct rendered *name = rendered_get(&c->opcodes, opname, perfetto_opcode);
	const struct rendered *function = rendered_get(&c->functions, r->code, perfetto_function);
	char *to;
	int err = name && function ? open_event(v, 'X', t, r->shown, name->length + function->length, &to)
				   : no_memory(v);

	if (err)
		return err;
	to = put_duration(to, ns - r->shown);
	*to++ = ',';
	to = rendered_put(rendered_put(to, name), function);
	to = out_dec(stpcpy(to, ",\"offset\":"), r->instr->offset);
	to = out_dec(stpcpy(to, ",\"line\":"), r->instr->line > 0 ? r->instr->line : 0);
	to = out_dec(stpcpy(to, ",\"cycles\":"), cycles);
	*to++ = '}';
	return close_event(v, to);
}

static int chrome_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark)
{
	char *to;
	int err = open_event(v, 'i', t, ns, EVENT_ROOM, &to);

	if (err)
		return err;
	to = stpcpy(stpcpy(to, "\"s\":\"t\",\"cat\":\""), mark->category);
	to = stpcpy(stpcpy(stpcpy(to, "\",\"name\":\""), mark->name), "\"");
	for (unsigned i = 0; i < mark->n; i++) {
		to = stpcpy(stpcpy(to, i ? ",\"" : ",\"args\":{\""), mark->args[i].key);
		to = out_dec(stpcpy(to, "\":"), mark->args[i].value);
	}
	if (mark->text)
		to = stpcpy(stpcpy(stpcpy(to, mark->n ? ",\"data\":\"" : ",\"args\":{\"data\":\""), mark->text), "\"");
	if (mark->n || mark->text)
		*to++ = '}';
	return close_event(v, to);
}

static int chrome_value(struct timeline *v, struct track *t, uint64_t ns, const char *name, double value)
{
	char *to;
	int err = open_event(v, 'C', t, ns, EVENT_ROOM, &to);

	if (err)
		return err;
	to = stpcpy(stpcpy(stpcpy(to, "\"name\":\""), name), "\",\"args\":{\"value\":");
	to += sprintf(to, isfinite(value) ? "%.17g}" : "null}", value);
	return close_event(v, to);
}

static char *put_stretch(char *to, const struct stretch *s)
{
	to = stpcpy(to, "\"cat\":\"state\",\"name\":\"");
	to = s->name ? stpcpy(to, s->name) : out_dec(stpcpy(to, "thread "), s->tid);
	return stpcpy(to, "\",\"args\":{");
}

/* Not an X: speedscope would take one that ends where the next begins, in doubles, for one around it. */
static int chrome_stretch(struct timeline *v, struct track *t, const struct stretch *s, uint64_t from, uint64_t ns)
{
	char *to;
	int err;

	v->reserved += 2 * EVENT_ROOM;
	err = open_event(v, 'B', t, from, EVENT_ROOM, &to);
	v->reserved -= 2 * EVENT_ROOM;
	if (err)
		return err;
	to = put_stretch(to, s);
	if (s->name && s->cpu != STATES_NO_CPU)
		to = out_dec(stpcpy(to, "\"cpu\":"), s->cpu);
	*to++ = '}';
	close_event(v, to);
	err = open_event(v, 'E', t, ns, EVENT_ROOM, &to);
	return err ? err : close_event(v, stpcpy(put_stretch(to, s), "}"));
}

static int write_flow(struct timeline *v, char phase, struct track *t, uint64_t ns)
{
	char *to;
	int err = open_event(v, phase, t, ns, 0, &to);

	if (err)
		return err;
	if (phase == 'f')
		to = stpcpy(to, "\"bp\":\"e\",");
	to = stpcpy(to, "\"cat\":\"resume\",\"name\":\"resume\",\"id\":");
	return close_event(v, out_dec(to, v->flows));
}

/* The beginning of a flow without its end would be an arrow to nowhere. */
static int chrome_flow(struct timeline *v, struct track *t, const struct span *span)
{
	int err;

	v->reserved += EVENT_ROOM + t->ids.length;
	err = write_flow(v, 's', (struct track *)span->from, span->from_shown);
	v->reserved -= EVENT_ROOM + t->ids.length;
	return err ? err : write_flow(v, 'f', t, span->shown);
}

/* Engines join name and arg to the counter's name. */
static int chrome_counter(struct timeline *v, struct track *t, enum timeline_counter which, uint64_t ns, uint64_t value)
{
	const char *const *name = timeline_counters[which];
	char *to;
	int err = open_event(v, 'C', t, ns, 0, &to);

	if (err)
		return err;
	to = out_dec(stpcpy(to, "\"name\":\"thread "), t->tid < 0 ? 0 : t->tid);
	to = stpcpy(stpcpy(stpcpy(to, ": "), name[0]), "\",\"args\":{\"");
	to = out_dec(stpcpy(stpcpy(to, name[1]), "\":"), value);
	*to++ = '}';
	return close_event(v, to);
}

static int render(struct timeline *v, struct rendered *piece, render_fn write, const void *of)
{
	FILE *f;

	*piece = (struct rendered){ NULL, 0 };
	f = open_memstream(&piece->text, &piece->length);
	if (f)
		write(f, of);
	return f && !fclose(f) ? 0 : no_memory(v);
}

static int chrome_snapshot(struct timeline *v, struct track *t, const struct snapshot *s, uint64_t from, uint64_t ns)
{
	struct rendered begin, end = { NULL, 0 };
	int err = render(v, &begin, perfetto_snapshot_begin, s);
	size_t room;

	err = err ?: render(v, &end, perfetto_snapshot_end, s);
	room = EVENT_ROOM + end.length;
	v->reserved += room;
	err = err ?: write_piece(v, 'B', t, from, &begin);
	v->reserved -= room;
	err = err ?: write_piece(v, 'E', t, ns, &end);
	free(begin.text);
	free(end.text);
	return err;
}

static int write_name(struct timeline *v, struct track *t, const char *what, const char *key, const char *name)
{
	struct rendered piece = { NULL, 0 };
	FILE *f = open_memstream(&piece.text, &piece.length);
	char *to;
	int err = f ? identify(v, t) : -ENOMEM;

	if (f && !err)
		perfetto_name(f, what, key, name);
	if (f && fclose(f))
		err = -ENOMEM;
	if (err)
		return no_memory(v);
	to = timeline_room(v, EVENT_ROOM + t->ids.length + piece.length, &err);
	if (to)
		err = close_event(v, rendered_put(rendered_put(put_phase(v, to, 'M'), &t->ids), &piece));
	free(piece.text);
	return err;
}

static int chrome_name(struct timeline *v, struct track *t, const char *thread, const char *process,
		       const char *command)
{
	int err = thread ? write_name(v, t, "thread_name", "name", thread) : 0;

	err = err || !process ? err : write_name(v, t, "process_name", "name", process);
	return err || !command ? err : write_name(v, t, "process_labels", "labels", command);
}

/* An array without an event is not a trace to engines. */
static int chrome_finish(struct timeline *v)
{
	static const char first[] = "\n{\"ph\":\"M\",\"pid\":0,\"tid\":0," HERMES "}";
	struct chrome *c = v->own;

	if (!c->any)
		out_put(&v->file.out, first, strlen(first));
	out_put(&v->file.out, "\n]\n", 3);
	return 0;
}

static void chrome_free(struct timeline *v)
{
	struct chrome *c = v->own;

	if (!c)
		return;
	rendered_free_all(&c->codes);
	rendered_free_all(&c->begins);
	rendered_free_all(&c->ends);
	rendered_free_all(&c->trips);
	rendered_free_all(&c->opcodes);
	rendered_free_all(&c->functions);
	free(c);
}

const struct timeline_format chrome_format = {
	.open = chrome_open,
	.begin = chrome_begin,
	.end = chrome_end,
	.code = chrome_code,
	.trip = chrome_trip,
	.opcode = chrome_opcode,
	.mark = chrome_mark,
	.stretch = chrome_stretch,
	.flow = chrome_flow,
	.counter = chrome_counter,
	.value = chrome_value,
	.snapshot = chrome_snapshot,
	.name = chrome_name,
	.finish = chrome_finish,
	.free = chrome_free,
};
