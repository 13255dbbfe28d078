// SPDX-License-Identifier: MIT
/*
 * A line of JSON says which columns there are. Then come blocks: a line with the number of rows and the code objects
 * that none before had, and each column's elements; before those of one that may be null, a bit for each row. A block
 * stays in the processor's cache, and is small enough for a pipe's reader to take it from there. If the reader shares
 * memory, it finds them there, and the line says in which half.
 *
 * What an activation took stands in the row of the event that ended it. Those that end without one have a row of their
 * own, LEAVE, so that the rows add up to the totals.
 */
#include "sink_event_columns.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "event_memory.h"
#include "model/objects.h"
#include "model/sink_file.h"

#define BLOCK	    (1 << 16) /* rows, unless the reader says how many */
#define KNOWN	    (1 << 12) /* code objects in the table of those met lately */
#define EVENT_LEAVE 31	      /* after all of enum sample_op */
#define NO_ROW	    UINT32_MAX

enum column { TIME, PID, TID, EVENT, CODE, OFFSET, DESTINATION, WHAT, OBJECT, DURATION, SELF, COLUMNS };

static const struct column_type {
	const char *name;
	uint8_t width; /* bytes; all are signed integers of this machine's byte order */
	bool nullable;
	bool usual; /* the same, and few are null */
} types[COLUMNS] = {
	[TIME] = { "time_ns", 8, false },
	[PID] = { "pid", 4, false },
	[TID] = { "tid", 4, false },
	[EVENT] = { "event", 1, false },
	[CODE] = { "code", 4, true, true },
	[OFFSET] = { "offset", 8, false },
	[DESTINATION] = { "destination", 8, true },
	[WHAT] = { "what", 4, true },
	[OBJECT] = { "object", 8, true },
	[DURATION] = { "duration_ns", 8, true },
	[SELF] = { "self_ns", 8, true },
};

struct known {
	const void *what;
	int32_t number;
};

struct event_columns {
	struct sink_file file;
	struct event_memory memory;
	uint32_t rows;
	uint32_t latest; /* row of the latest event, unless what it ended is told in it; NO_ROW */
	const struct code *latest_code;
	void *cells[COLUMNS];
	uint64_t *valid[COLUMNS]; /* NULL: never null */
	struct map numbers;	  /* code objects and names of opcodes -> their number + 1 */
	int32_t nnumbers;
	json_t *fresh; /* of them, since the last block */
	struct known known[KNOWN];
};

static void put_columns(struct event_columns *e)
{
	uint32_t n = e->rows;

	for (unsigned c = 0; c < COLUMNS; c++) {
		if (e->valid[c])
			out_put(&e->file.out, (const char *)e->valid[c], (n + 63) / 64 * 8);
		out_put(&e->file.out, e->cells[c], (size_t)n * types[c].width);
	}
}

static size_t size_of(uint32_t rows)
{
	size_t size = 0;

	for (unsigned c = 0; c < COLUMNS; c++)
		size += (size_t)rows * types[c].width + (types[c].nullable ? rows / 8 : 0);
	return size;
}

/* As put_columns() puts them, if they are full. -EPIPE: there is no memory for them because the reader is gone. */
static int begin_block(struct event_columns *e)
{
	char *at = event_memory_take(&e->memory);

	e->rows = 0;
	e->latest = NO_ROW;
	for (unsigned c = 0; at && c < COLUMNS; c++) {
		e->valid[c] = types[c].nullable ? memset(at, types[c].usual ? 0xff : 0, e->memory.rows / 8) : NULL;
		at += types[c].nullable ? e->memory.rows / 8 : 0;
		e->cells[c] = at;
		at += (size_t)e->memory.rows * types[c].width;
	}
	if (!at)
		e->file.out.err = e->file.out.err ?: -EPIPE;
	return sink_file_status(&e->file.sink);
}

/* Takes `line`. 0 or -ENOMEM. */
static int put_line(struct event_columns *e, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	if (!text)
		return -ENOMEM;
	out_put(&e->file.out, text, strlen(text));
	out_put(&e->file.out, "\n", 1);
	free(text);
	return 0;
}

/* The block that is being filled, for its reader. */
static int put_block(struct event_columns *e)
{
	bool shared = e->memory.freed >= 0;
	int half = (int)((e->memory.filled - 1) % EVENT_MEMORY_HALVES);
	json_t *line = json_pack("{s:i, s:o}", "rows", (int)e->rows, "codes", e->fresh);

	if (shared && line)
		json_object_set_new(line, "half", json_integer(half));
	e->fresh = json_array();
	if (put_line(e, line) || !e->fresh)
		return sink_file_no_memory(&e->file.sink);
	if (!shared)
		put_columns(e);
	else
		out_flush(&e->file.out);
	return sink_file_status(&e->file.sink);
}

static int next_block(struct event_columns *e)
{
	return put_block(e) ?: begin_block(e);
}

static json_t *describe(const struct code *code, const char *name)
{
	if (!code)
		return json_pack("[n, o, n]", json_text(name));
	return json_pack("[o, o, I]", json_text(code->file), json_text(code->qualname), (json_int_t)code->firstlineno);
}

/* The number of what was not met lately: a code object, or if it is NULL an opcode's name. -1: no memory. */
static __attribute__((noinline)) int32_t number_of(struct event_columns *e, const struct code *code, const char *name,
						   struct known *known)
{
	const void *what = code ? (const void *)code : name;
	intptr_t number = (intptr_t)map_get(&e->numbers, (uintptr_t)what);

	if (!number) {
		number = ++e->nnumbers;
		if (json_array_append_new(e->fresh, describe(code, name)) ||
		    map_put(&e->numbers, (uintptr_t)what, (void *)number))
			return -1;
	}
	*known = (struct known){ what, (int32_t)number - 1 };
	return known->number;
}

static inline struct known *place_of(struct event_columns *e, const void *what)
{
	return &e->known[((uintptr_t)what >> 4 ^ (uintptr_t)what >> 16) % KNOWN];
}

static inline int32_t number(struct event_columns *e, const struct code *code, const char *name)
{
	const void *what = code ? (const void *)code : name;
	struct known *known = place_of(e, what);

	return known->what == what ? known->number : number_of(e, code, name, known);
}

/*
 * A block's bits are 0 when it begins, or 1 where few are null: what is null has what its cell had in an earlier block.
 */
static inline void tell_valid(struct event_columns *e, enum column c, uint32_t row)
{
	if (types[c].nullable && !types[c].usual)
		e->valid[c][row / 64] |= (uint64_t)1 << row % 64;
}

static inline void set64(struct event_columns *e, enum column c, uint32_t row, int64_t value)
{
	((int64_t *)e->cells[c])[row] = value;
	tell_valid(e, c, row);
}

static inline void set32(struct event_columns *e, enum column c, uint32_t row, int32_t value)
{
	((int32_t *)e->cells[c])[row] = value;
	tell_valid(e, c, row);
}

static inline void set_null(struct event_columns *e, enum column c, uint32_t row)
{
	e->valid[c][row / 64] &= ~((uint64_t)1 << row % 64);
}

/* What begins, ends or continues an activation of generator code says of which object. */
static inline const struct object *object_of(const struct sample *s)
{
	return s->op >= OP_PY_START && s->op <= OP_PY_THROW && s->code->generator ? s->generator : NULL;
}

static inline uint32_t add_row(struct event_columns *e, uint64_t time, int32_t pid, int32_t tid, uint8_t event)
{
	uint32_t row = e->rows++;

	set64(e, TIME, row, (int64_t)time);
	set32(e, PID, row, pid);
	set32(e, TID, row, tid);
	((uint8_t *)e->cells[EVENT])[row] = event;
	return row;
}

#define ALWAYS static inline __attribute__((always_inline))

/* What is in the row of every event of code. */
ALWAYS uint32_t put_place(struct event_columns *e, const struct sample *s, int32_t code)
{
	uint32_t row = add_row(e, s->time, s->pid, s->tid, s->op);
	const struct object *o = object_of(s);

	e->latest = row;
	e->latest_code = s->code;
	set32(e, CODE, row, code);
	set64(e, OFFSET, row, s->offset); /* of LINE, the line */
	if (s->target != SAMPLE_NOWHERE)
		set64(e, DESTINATION, row, s->target);
	if (o)
		set64(e, OBJECT, row, (int64_t)o->serial);
	return row;
}

/* What is called, or the opcode that ran. 0 or -ENOMEM. */
static int put_what(struct event_columns *e, uint32_t row, const struct sample *s)
{
	const struct code *callee = s->op == OP_CALL ? s->callee : NULL;
	const char *opcode = s->op == OP_INSTRUCTION && s->opcode ? process_opname(s->code->process, s->opcode) : NULL;
	int32_t what;

	if (!callee && !(opcode && *opcode))
		return 0;
	what = number(e, callee, opcode);
	set32(e, WHAT, row, what);
	return what < 0 ? -ENOMEM : 0;
}

/* Of an event without a place, as in docs/events.md. */
static void put_other(struct event_columns *e, const struct sample *s)
{
	bool extension = s->op == OP_EXTENSION, edge = s->op == OP_SNAPSHOT;
	uint32_t row = add_row(e, s->time, s->pid, s->tid, s->op);

	e->latest = row;
	e->latest_code = NULL;
	set_null(e, CODE, row);
	set64(e, OFFSET, row, (int64_t)(edge ? s->number : extension ? s->kind : s->count));
	if (edge || extension)
		set64(e, DESTINATION, row, (int64_t)(edge ? s->ends : s->payload));
}

/* Any sample. */
static __attribute__((noinline)) int take_any(struct event_columns *e, const struct sample *s)
{
	int err = e->rows == e->memory.rows ? next_block(e) : 0;
	int32_t code;

	if (err || s->op == SAMPLE_RESTART) /* which is not an event of the program */
		return err;
	if (!s->code) {
		put_other(e, s);
		return 0;
	}
	code = number(e, s->code, NULL);
	return code < 0 || put_what(e, put_place(e, s, code), s) ? sink_file_no_memory(&e->file.sink) : 0;
}

/* Most are events of code that was met lately, of which there is nothing to say but their place: without a call. */
static int columns_sample(struct sink *sink, const struct sample *s)
{
	const uint32_t more = 1u << OP_CALL | 1u << OP_INSTRUCTION | 1u << SAMPLE_RESTART;
	struct event_columns *e = (struct event_columns *)sink;
	const struct known *known = place_of(e, s->code);

	if (!s->code || known->what != s->code || more >> s->op & 1 || e->rows == e->memory.rows)
		return take_any(e, s);
	put_place(e, s, known->number);
	return 0;
}

/* A row for the end of an activation that no event tells. NO_ROW: no memory, or it cannot be written. */
static uint32_t add_leave(struct event_columns *e, const struct activation *a, uint64_t end_ns)
{
	int32_t code = number(e, a->code, NULL);
	uint32_t row;

	if (code < 0 || (e->rows == e->memory.rows && next_block(e)))
		return NO_ROW;
	row = add_row(e, end_ns, a->pid, a->tid, EVENT_LEAVE);
	set32(e, CODE, row, code);
	if (a->code->c)
		set32(e, WHAT, row, code);
	set64(e, OFFSET, row, 0);
	if (a->object)
		set64(e, OBJECT, row, (int64_t)a->object->serial);
	return row;
}

/* Is it the latest event that ended the activation? C_RETURN and C_RAISE are events of the caller's code. */
static bool is_by_event(const struct event_columns *e, const struct activation *a, enum leave_how how)
{
	return (how == LEAVE_RETURN || how == LEAVE_YIELD || how == LEAVE_UNWIND) && e->latest != NO_ROW &&
	       e->latest_code && (e->latest_code == a->code || a->code->c);
}

static int name_callee(struct event_columns *e, uint32_t row, const struct code *callee)
{
	int32_t what = number(e, callee, NULL);

	set32(e, WHAT, row, what);
	return what < 0 ? sink_file_no_memory(&e->file.sink) : 0;
}

static inline void put_times(struct event_columns *e, uint32_t row, const struct activation *a, uint64_t end_ns)
{
	set64(e, DURATION, row, (int64_t)(end_ns - a->start_ns));
	set64(e, SELF, row, (int64_t)(end_ns - a->start_ns - a->callee_ns));
}

/* Of a C function, or by no event. */
static __attribute__((noinline)) int leave_any(struct event_columns *e, const struct activation *a, bool by_event,
					       uint64_t end_ns)
{
	uint32_t row = by_event ? e->latest : add_leave(e, a, end_ns);

	if (row == NO_ROW)
		return e->file.out.err ? sink_file_status(&e->file.sink) : sink_file_no_memory(&e->file.sink);
	if (row == e->latest)
		e->latest = NO_ROW;
	put_times(e, row, a, end_ns);
	return a->code->c ? name_callee(e, row, a->code) : 0;
}

static int columns_leave(struct sink *sink, const struct activation *a, enum leave_how how, uint64_t end_ns,
			 uint64_t end_cycles)
{
	struct event_columns *e = (struct event_columns *)sink;
	bool by_event = is_by_event(e, a, how);

	(void)end_cycles;
	if (!by_event || a->code->c)
		return leave_any(e, a, by_event, end_ns);
	put_times(e, e->latest, a, end_ns);
	e->latest = NO_ROW;
	return 0;
}

static int columns_finish(struct sink *sink, const struct profile *p)
{
	struct event_columns *e = (struct event_columns *)sink;
	int err = e->rows ? put_block(e) : 0;

	(void)p;
	err = err ?: put_line(e, json_pack("{s:i}", "rows", 0)) ? sink_file_no_memory(sink) : 0;
	return err ?: sink_file_close(sink);
}

static void columns_free(struct sink *sink)
{
	struct event_columns *e = (struct event_columns *)sink;

	event_memory_free(&e->memory);
	map_free(&e->numbers);
	json_decref(e->fresh);
	sink_file_free(sink);
}

static json_t *event_names(void)
{
	json_t *names = json_array();

	for (unsigned op = 0; op <= EVENT_LEAVE; op++) {
		const char *name = op == EVENT_LEAVE ? "LEAVE" : sample_op_name(op);

		json_array_append_new(names, json_string(name ? name : ""));
	}
	return names;
}

static int put_header(struct event_columns *e)
{
	json_t *columns = json_array();

	for (unsigned c = 0; c < COLUMNS; c++)
		json_array_append_new(columns,
				      json_pack("[s, i, b]", types[c].name, types[c].width, types[c].nullable));
	return put_line(e, json_pack("{s:i, s:i, s:o, s:o}", "ocular_event_columns", 1, "block", (int)e->memory.rows,
				     "columns", columns, "events", event_names()));
}

/* 0 or a negative errno. */
static int make_columns(struct event_columns *e, const char *shared)
{
	int err;

	e->fresh = json_array();
	err = e->fresh ? event_memory_open(&e->memory, BLOCK, size_of(EVENT_MEMORY_ROWS), shared) : -ENOMEM;
	return err ?: put_header(e) ?: begin_block(e);
}

int sink_event_columns_open(struct sink **out, const struct sink_options *o, char *error)
{
	static const struct sink_ops ops = { .sample = columns_sample,
					     .plain = columns_sample,
					     .leave = columns_leave,
					     .no_loops = true,
					     .finish = columns_finish,
					     .free = columns_free };
	int err = sink_file_open(out, sizeof(struct event_columns), &ops, o, error);

	if (err)
		return err;
	err = make_columns((struct event_columns *)*out, o->event_memory);
	if (!err)
		return 0;
	columns_free(*out);
	snprintf(error, SINK_ERROR, "no memory for %s: %s", o->path, strerror(-err));
	return err;
}
