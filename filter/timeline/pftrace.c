// SPDX-License-Identifier: MIT
/*
 * A thread is a sequence of packets. An activation takes some 40 bytes, and a tenth of that in the format's packet for
 * compressed packets.
 *
 * Packets do not set "needs incremental state" (sequence_flags 2): a file loses no packet.
 */
#include "pftrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"
#include "pftrace_tracks.h"
#include "timeline_parts.h"
#include "base/proto.h"
#include "base/text.h"

/* Numbers of the end of a slice, for which room may be kept many times: three lengths, five numbers, four args. */
#define END_ROOM 120

static struct pftrace_names *names_of(struct timeline *v)
{
	struct pftrace *w = v->own;

	return &w->names;
}

/* A packet that contains packets. */
static char *put_frame(char *to, size_t size)
{
	char head[2 * PROTO_VARINT];
	size_t length = proto_varint(proto_varint(head, PACKET_COMPRESSED << 3 | 2), size) - head;

	to = proto_varint(proto_varint(to, TRACE_PACKET << 3 | 2), length + size);
	return mempcpy(to, head, length);
}

static int pftrace_open(struct timeline *v)
{
	struct pftrace *w = calloc(1, sizeof(*w));

	if (w)
		w->names = (struct pftrace_names){ .first = CATEGORIES, .source_url = v->source_url };
	v->own = w;
	return w && !out_frames(&v->file.out, put_frame) ? 0 : pftrace_no_memory(v);
}

static char *put_source(char *to, const struct pftrace_name *n)
{
	char *body = proto_open(to, INTERNED_SOURCE);

	to = proto_number(body, INTERNED_IID, n->number);
	to = proto_string(to, SOURCE_FILE, n->file, strlen(n->file));
	return proto_close(body, proto_number(to, SOURCE_LINE, n->line > 0 ? n->line : 0));
}

static int write_names(struct timeline *v, const struct track *t, const struct pftrace_name *n)
{
	size_t lengths = strlen(n->name) + (n->category ? strlen(n->category) : 0) + (n->file ? strlen(n->file) : 0);
	struct pftrace_packet p;
	int err = pftrace_open_packet(v, t, lengths, &p);
	char *body;

	if (err)
		return err;
	body = proto_open(p.to, PACKET_INTERNED);
	p.to = pftrace_put_name(body, INTERNED_NAME, n->number, n->name);
	if (n->category)
		p.to = pftrace_put_name(p.to, INTERNED_CATEGORY, n->number, n->category);
	if (n->file)
		p.to = put_source(p.to, n);
	p.to = proto_close(body, p.to);
	return pftrace_close_packet(v, &p);
}

static bool is_introduced(const struct track *t, const struct pftrace_name *n)
{
	return n && t->sequence && pftrace_sequence_knows(t->sequence, n->number);
}

/* Defines the number for the sequence, once. */
static int introduce(struct timeline *v, struct track *t, const struct pftrace_name *n)
{
	int err = n ? pftrace_begin_sequence(v, t) : pftrace_no_memory(v);
	uint64_t *word, bit;

	if (err)
		return err;
	word = pftrace_sequence_word(t->sequence, n->number);
	if (!word)
		return pftrace_no_memory(v);
	bit = 1ull << n->number % 64;
	if (*word & bit)
		return 0;
	err = write_names(v, t, n);
	if (!err)
		*word |= bit;
	return err;
}

static int open_event(struct timeline *v, struct track *t, uint64_t ns, unsigned type, size_t more,
		      struct pftrace_event *e)
{
	int err = t->sequence ? 0 : pftrace_begin_sequence(v, t);
	char *to = err ? NULL : timeline_room(v, PFTRACE_ROOM + more, &err);

	*e = (struct pftrace_event){ { NULL, NULL }, NULL };
	if (to)
		pftrace_put_event(e, to, t, ns, type);
	return err;
}

/* The name of its code, defined in the sequence. */
static int name_span(struct timeline *v, struct track *t, const struct span *span)
{
	const struct pftrace_name *n = pftrace_code_name(names_of(v), span_of(span));
	int err = introduce(v, t, n);

	span->drawn->begin = n;
	return err;
}

static int pftrace_begin(struct timeline *v, struct track *t, struct span *span)
{
	const struct pftrace_name *n = span->drawn->begin;
	int err = is_introduced(t, n) ? 0 : name_span(v, t, span);
	char *to = NULL, *packet, *event;

	span->reserved = END_ROOM;
	v->reserved += span->reserved;
	if (!err)
		to = timeline_room(v, PFTRACE_ROOM, &err);
	v->reserved -= span->reserved;
	if (!to)
		return err;
	n = span->drawn->begin;
	packet = proto_open(to, TRACE_PACKET);
	event = pftrace_put_whose(packet, t->sequence);
	memcpy(event, n->slice, sizeof(n->slice)); /* all of it: that takes no loop */
	to = event + n->slice_length;
	if (span->import) /* what imports it is the function */
		to = proto_close_short(event + PFTRACE_HEAD, pftrace_put_address(to, span->code));
	to = pftrace_put_time(to, t->sequence, span->shown);
	out_commit(&v->file.out, proto_close_short(packet, to));
	return 0;
}

/* Its room was reserved: the file cannot be full. */
static int pftrace_end(struct timeline *v, struct track *t, const struct span *span, uint64_t ns, uint64_t cycles)
{
	char *to = out_reserve(&v->file.out, END_ROOM);
	struct pftrace_event e;

	if (!to)
		return pftrace_no_memory(v);
	pftrace_put_short(&e, to, t, TYPE_END);
	if (span->calls)
		pftrace_put_arg(&e, KEY_CALLS, span->calls);
	pftrace_put_cycles(&e, KEY_CYCLES, cycles);
	if (span->off.ns) {
		pftrace_put_arg(&e, KEY_CPU, span_cpu(span, ns));
		pftrace_put_arg(&e, KEY_WAITING, span->off.waiting_ns);
	}
	out_commit(&v->file.out, pftrace_close_short(&e, t, ns));
	return 0;
}

static int pftrace_code(struct timeline *v, struct track *t, uint64_t ns, const struct code *code)
{
	const struct pftrace_name *n = pftrace_code_name(names_of(v), code);
	char *file = text_utf8(code->file);
	struct pftrace_event e;
	int err = file ? introduce(v, t, n) : pftrace_no_memory(v);

	err = err ?: open_event(v, t, ns, TYPE_INSTANT, strlen(file), &e);
	if (!err) {
		pftrace_put(&e, EVENT_TRACK, pftrace_uuid(UUID_CODES, pftrace_known(t->pid)));
		pftrace_put(&e, EVENT_CATEGORY, CATEGORY_CODE);
		pftrace_put(&e, EVENT_NAME, n->number);
		e.packet.to = pftrace_put_address(e.packet.to, code);
		pftrace_put_string_arg(&e, "file", file);
		pftrace_put_keyed_arg(&e, "line", code->firstlineno);
		err = pftrace_close_event(v, &e);
	}
	free(file);
	return err;
}

/* Three args, of 17 bytes at most, beside the name: less than 128 bytes. The cycles are a slice's end's. */
static char *put_trip(const struct pftrace_name *n, char *to, struct track *t, const struct trip *trip, uint64_t ns,
		      unsigned type)
{
	struct pftrace_event e;

	pftrace_put_short(&e, to, t, type);
	pftrace_put(&e, EVENT_CATEGORY, CATEGORY_LOOP);
	pftrace_put(&e, EVENT_NAME, n->number);
	if (trip->uops) /* 0: the bytecode is not known */
		pftrace_put_arg(&e, KEY_UOPS, trip->uops);
	pftrace_put_arg(&e, KEY_TRIP, trip->number);
	if (type == TYPE_INSTANT)
		pftrace_put_cycles(&e, n->cycles, trip->cycles);
	return pftrace_close_short(&e, t, ns);
}

/* The name of the loop, defined in the sequence; of a row with the trips of one it is the same each time. */
static int name_trip(struct timeline *v, struct track *t, const struct loop *loop, const struct pftrace_name **n)
{
	int err;

	*n = pftrace_loop_name(names_of(v), loop, v->file.sink.profile);
	err = is_introduced(t, *n) ? 0 : introduce(v, t, *n);
	if (!err && t->of_loop)
		t->trips = *n;
	return err;
}

/* Of a slice both packets, or none. */
static int pftrace_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns)
{
	const struct pftrace_name *n = t->trips;
	bool slice = t->of_loop || v->iterations == ITERATIONS_SLICES;
	struct pftrace_event end;
	int err = n ? 0 : name_trip(v, t, trip->loop, &n);
	char *to = err ? NULL : timeline_room(v, (slice ? 2 : 1) * PFTRACE_ROOM, &err);

	if (!to)
		return err;
	to = put_trip(n, to, t, trip, from, slice ? TYPE_BEGIN : TYPE_INSTANT);
	if (slice) {
		pftrace_put_short(&end, to, t, TYPE_END);
		pftrace_put_cycles(&end, n->cycles, trip->cycles);
		to = pftrace_close_short(&end, t, ns);
	}
	out_commit(&v->file.out, to);
	return 0;
}

/* Names as text: there are TIMELINE_OPCODES of them at most, and repeated ones compress well. */
static int pftrace_opcode(struct timeline *v, struct track *t, const struct running *r, uint64_t ns, uint64_t cycles)
{
	const char *opname = process_opname(r->code->process, r->opcode);
	char *function = text_utf8(r->code->qualname);
	struct pftrace_event e;
	int err = function ? 0 : pftrace_no_memory(v);

	v->reserved += PFTRACE_ROOM;
	err = err ?: open_event(v, t, r->shown, TYPE_BEGIN, PFTRACE_ROOM + strlen(opname) + strlen(function), &e);
	v->reserved -= PFTRACE_ROOM;
	if (!err) {
		pftrace_put_text(&e, EVENT_CATEGORY_TEXT, "opcode");
		pftrace_put_text(&e, EVENT_NAME_TEXT, opname);
		pftrace_put_string_arg(&e, "function", function);
		pftrace_put_keyed_arg(&e, "offset", r->instr->offset);
		pftrace_put_keyed_arg(&e, "line", r->instr->line > 0 ? r->instr->line : 0);
		pftrace_put_arg(&e, KEY_CYCLES, cycles);
		pftrace_close_event(v, &e);
		err = open_event(v, t, ns, TYPE_END, 0, &e);
	}
	free(function);
	return err ? err : pftrace_close_event(v, &e);
}

static int pftrace_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark)
{
	struct pftrace_event e;
	int err = open_event(v, t, ns, TYPE_INSTANT, PFTRACE_ROOM, &e);

	if (err)
		return err;
	pftrace_put_text(&e, EVENT_CATEGORY_TEXT, mark->category);
	pftrace_put_text(&e, EVENT_NAME_TEXT, mark->name);
	for (unsigned i = 0; i < mark->n; i++)
		pftrace_put_keyed_arg(&e, mark->args[i].key, mark->args[i].value);
	if (mark->text)
		pftrace_put_string_arg(&e, "data", mark->text);
	return pftrace_close_event(v, &e);
}

/* Names as text: a thread is switched some thousand times a second at most. */
static int pftrace_stretch(struct timeline *v, struct track *t, const struct stretch *s, uint64_t from, uint64_t ns)
{
	struct pftrace_event e;
	char thread[32];
	int err;

	snprintf(thread, sizeof(thread), "thread %d", s->tid);
	v->reserved += PFTRACE_ROOM;
	err = open_event(v, t, from, TYPE_BEGIN, PFTRACE_ROOM, &e);
	v->reserved -= PFTRACE_ROOM;
	if (err)
		return err;
	pftrace_put_text(&e, EVENT_CATEGORY_TEXT, "state");
	pftrace_put_text(&e, EVENT_NAME_TEXT, s->name ? s->name : thread);
	if (s->name && s->cpu != STATES_NO_CPU)
		pftrace_put_keyed_arg(&e, "cpu", s->cpu);
	pftrace_close_event(v, &e);
	err = open_event(v, t, ns, TYPE_END, 0, &e);
	return err ? err : pftrace_close_event(v, &e);
}

/* As events of the older kind: with the current ones a flow can only start where a slice begins. */
static int write_flow(struct timeline *v, char phase, struct track *t, const struct track *on, uint64_t ns)
{
	struct pftrace_event e;
	char *legacy;
	int err = open_event(v, t, ns, TYPE_LEGACY, 0, &e);

	if (err)
		return err;
	pftrace_put(&e, EVENT_CATEGORY, CATEGORY_RESUME);
	pftrace_put(&e, EVENT_NAME, NAME_RESUME);
	if (on != t)
		pftrace_put(&e, EVENT_TRACK, pftrace_uuid(UUID_THREAD, on->number));
	legacy = proto_open(e.packet.to, EVENT_LEGACY);
	e.packet.to = proto_number(legacy, LEGACY_PHASE, phase);
	e.packet.to = proto_number(e.packet.to, LEGACY_ID, v->flows);
	if (phase == 'f')
		e.packet.to = proto_number(e.packet.to, LEGACY_ENCLOSING, true);
	e.packet.to = proto_close(legacy, e.packet.to);
	return pftrace_close_event(v, &e);
}

static int pftrace_flow(struct timeline *v, struct track *t, const struct span *span)
{
	int err;

	v->reserved += PFTRACE_ROOM;
	err = write_flow(v, 's', t, span->from, span->from_shown);
	v->reserved -= PFTRACE_ROOM;
	return err ? err : write_flow(v, 'f', t, t, span->shown);
}

static int pftrace_counter(struct timeline *v, struct track *t, enum timeline_counter which, uint64_t ns,
			   uint64_t value)
{
	struct pftrace_event e;
	int err = open_event(v, t, ns, TYPE_COUNTER, 0, &e);

	if (err)
		return err;
	pftrace_put(&e, EVENT_TRACK, pftrace_counter_uuid(t, which));
	pftrace_put(&e, EVENT_COUNTER, value);
	return pftrace_close_event(v, &e);
}

static int pftrace_value(struct timeline *v, struct track *t, uint64_t ns, const char *name, double value)
{
	struct pftrace_event e;
	uint64_t uuid;
	int err = pftrace_begin_sequence(v, t);

	err = err ?: pftrace_value_track(v, t, name, &uuid);
	err = err ?: open_event(v, t, ns, TYPE_COUNTER, 0, &e);
	if (err)
		return err;
	pftrace_put(&e, EVENT_TRACK, uuid);
	e.packet.to = proto_double(e.packet.to, EVENT_COUNTER_DOUBLE, value);
	return pftrace_close_event(v, &e);
}

static void put_snapshot(struct pftrace_event *e, const struct snapshot *s, const char *label, const char *trigger,
			 const char *stack)
{
	pftrace_put_text(e, EVENT_CATEGORY_TEXT, "snapshot");
	pftrace_put_text(e, EVENT_NAME_TEXT, label);
	pftrace_put_string_arg(e, "trigger", trigger);
	pftrace_put_keyed_arg(e, "number", s->number);
	pftrace_put_keyed_arg(e, "threads", s->threads);
	pftrace_put_keyed_arg(e, "cut", s->cut);
	pftrace_put_keyed_arg(e, "pid", pftrace_known(s->pid));
	pftrace_put_keyed_arg(e, "tid", pftrace_known(s->tid));
	pftrace_put_json_arg(e, "data", perfetto_data(s));
	pftrace_put_json_arg(e, "stack", stack);
}

static char *stack_of(const struct snapshot *s)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	perfetto_stack(f, s);
	return fclose(f) ? NULL : text;
}

static int pftrace_snapshot(struct timeline *v, struct track *t, const struct snapshot *s, uint64_t from, uint64_t ns)
{
	char *label = text_utf8(s->label ? s->label : "?"), *trigger = text_utf8(s->trigger ? s->trigger : "?");
	char *stack = stack_of(s);
	int err = label && trigger && stack ? 0 : pftrace_no_memory(v);
	struct pftrace_event e;

	v->reserved += PFTRACE_ROOM;
	if (!err)
		err = open_event(
			v, t, from, TYPE_BEGIN,
			PFTRACE_ROOM + strlen(label) + strlen(trigger) + strlen(stack) + strlen(perfetto_data(s)), &e);
	v->reserved -= PFTRACE_ROOM;
	if (!err) {
		put_snapshot(&e, s, label, trigger, stack);
		err = pftrace_close_event(v, &e);
	}
	free(label);
	free(trigger);
	free(stack);
	err = err ?: open_event(v, t, ns, TYPE_END, 0, &e);
	return err ? err : pftrace_close_event(v, &e);
}

static int name_process(struct timeline *v, struct track *t, const char *process, const char *command)
{
	char *name = text_utf8(process), *label = text_utf8(command ? command : "");
	int err = name && label ? pftrace_write_process(v, t, name, command ? label : NULL) : pftrace_no_memory(v);

	free(name);
	free(label);
	return err;
}

static int pftrace_name(struct timeline *v, struct track *t, const char *thread, const char *process,
			const char *command)
{
	char *text = text_utf8(thread ? thread : "");
	int err = text ? pftrace_begin_sequence(v, t) : pftrace_no_memory(v);

	if (!err && thread)
		err = pftrace_write_thread(v, t, text);
	free(text);
	return err || !process ? err : name_process(v, t, process, command);
}

/* A trace is a sequence of packets: nothing closes it. */
/* What is to be seen at first, for viewers, and for `ocular view`: it is the last packet. A full file has none. */
static int pftrace_finish(struct timeline *v)
{
	uint64_t from, until;
	char *to, *packet, *body;
	int err = 0;

	if (v->full || !opening_span(&v->opening, &from, &until))
		return 0;
	to = timeline_room(v, PFTRACE_ROOM, &err);
	if (!to)
		return err == TIMELINE_FULL ? 0 : err;
	packet = proto_open(to, TRACE_PACKET);
	body = proto_open(packet, PACKET_UI_STATE);
	to = proto_number(body, UI_FROM, timeline_since_start(v, from));
	to = proto_number(to, UI_UNTIL, timeline_since_start(v, until));
	out_commit(&v->file.out, proto_close(packet, proto_close(body, to)));
	return 0;
}

static void pftrace_free(struct timeline *v)
{
	struct pftrace *w = v->own;

	for (struct map_slot *s = NULL; (s = map_next(&v->tracks, s));)
		pftrace_sequence_free(((struct track *)s->value)->sequence);
	if (w) {
		pftrace_names_free(&w->names);
		map_free(&w->processes);
		map_free(&w->values);
	}
	free(w);
}

const struct timeline_format pftrace_format = {
	.open = pftrace_open,
	.begin = pftrace_begin,
	.end = pftrace_end,
	.code = pftrace_code,
	.trip = pftrace_trip,
	.opcode = pftrace_opcode,
	.mark = pftrace_mark,
	.stretch = pftrace_stretch,
	.flow = pftrace_flow,
	.counter = pftrace_counter,
	.value = pftrace_value,
	.snapshot = pftrace_snapshot,
	.name = pftrace_name,
	.finish = pftrace_finish,
	.free = pftrace_free,
};
