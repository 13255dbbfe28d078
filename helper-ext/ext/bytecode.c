/* SPDX-License-Identifier: MIT */
/*
 * bytecode.c - see bytecode.h. PyCode_GetCode() returns base opcodes with arguments and zeroed caches, whatever
 * specialization and instrumentation have done.
 */
#include "adaptive.h"
#include "bytecode.h"

/* One pass over co_lines(), in step with the walk over the instructions. */
struct line_walk {
	PyObject *ranges;
	long end; /* byte offset up to which `line` holds */
	long line;
};

static void line_walk_start(struct line_walk *w, PyCodeObject *code)
{
	PyObject *ranges = PyObject_CallMethod((PyObject *)code, "co_lines", NULL);

	*w = (struct line_walk){ ranges, 0, -1 };
	if (!ranges)
		PyErr_Clear();
}

static long line_walk_at(struct line_walk *w, long offset)
{
	PyObject *range, *line;

	while (w->ranges && w->end <= offset && (range = PyIter_Next(w->ranges))) {
		line = PyTuple_GET_ITEM(range, 2);
		w->end = PyLong_AsLong(PyTuple_GET_ITEM(range, 1));
		w->line = line == Py_None ? -1 : PyLong_AsLong(line);
		Py_DECREF(range);
	}
	return w->end > offset ? w->line : -1;
}

static long jump_target(const struct opcode_tables *ops, uint8_t op, Py_ssize_t i, long arg)
{
	if (!ops->jump[op])
		return -1;
	return 2 * (i + 1 + ops->caches[op] + ops->jump[op] * arg);
}

static long write_instructions(const struct opcode_tables *ops, PyObject *bytes, struct line_walk *lines,
			       struct text *t)
{
	const uint8_t *units = (const uint8_t *)PyBytes_AS_STRING(bytes);
	Py_ssize_t n = PyBytes_GET_SIZE(bytes) / 2;
	long line, last = -1, arg = 0;

	for (Py_ssize_t i = 0; i < n; i += 1 + ops->caches[units[2 * i]]) {
		uint8_t op = units[2 * i];

		arg = arg << 8 | units[2 * i + 1];
		line = line_walk_at(lines, 2 * i);
		last = line > last ? line : last;
		text_comma(t);
		text_numbers(t, (long[]){ 2 * i, line, op, jump_target(ops, op, i, arg) }, 4);
		if (op != ops->extended_arg)
			arg = 0;
	}
	return last;
}

long bytecode_instructions(const struct opcode_tables *ops, PyCodeObject *code, struct text *t)
{
	PyObject *bytes = PyCode_GetCode(code);
	struct line_walk lines;
	long last = -1;

	text_add(t, "[", 1);
	line_walk_start(&lines, code);
	if (bytes)
		last = write_instructions(ops, bytes, &lines, t);
	text_add(t, "]", 1);
	Py_XDECREF(lines.ranges);
	Py_XDECREF(bytes);
	PyErr_Clear();
	return last;
}

/* The two general instrumentations may be nested; which is outside differs between versions. */
static uint8_t opcode_below(const struct opcode_tables *ops, PyCodeObject *code, const uint8_t *copy, Py_ssize_t i)
{
	uint8_t op = adaptive_raw(copy, i);

	for (int depth = 0; depth < 2; depth++) {
		if (op == ops->instrumented_line)
			op = adaptive_under_line(code, i);
		else if (op == ops->instrumented_instruction)
			op = adaptive_under_instruction(code, i);
	}
	return op;
}

uint8_t bytecode_opcode(const struct opcode_tables *ops, PyCodeObject *code, Py_ssize_t i)
{
	int copy = adaptive_own_copy();
	const uint8_t *own = adaptive_copy(code, copy < 0 ? 0 : copy);

	return own && i < Py_SIZE(code) ? opcode_below(ops, code, own, i) : 0;
}

static long write_specialized(const struct opcode_tables *ops, PyCodeObject *code, PyObject *bytes, const uint8_t *copy,
			      struct text *t)
{
	const uint8_t *units = (const uint8_t *)PyBytes_AS_STRING(bytes);
	Py_ssize_t end = PyBytes_GET_SIZE(bytes) / 2;
	long n = 0;

	for (Py_ssize_t i = 0; i < end; i += 1 + ops->caches[units[2 * i]]) {
		uint8_t base = units[2 * i], op = opcode_below(ops, code, copy, i);

		if (op == base || !op || ops->instrumented[op])
			continue;
		text_comma(t);
		text_numbers(t, (long[]){ 2 * i, op }, 2);
		n++;
	}
	return n;
}

long bytecode_specialized(const struct opcode_tables *ops, PyCodeObject *code, Py_ssize_t copy, struct text *t)
{
	PyObject *bytes = PyCode_GetCode(code); /* calls into Python: before the copy is taken */
	const uint8_t *own = bytes ? adaptive_copy(code, copy) : NULL;
	long n = -1;

	text_add(t, "[", 1);
	if (own)
		n = write_specialized(ops, code, bytes, own, t);
	text_add(t, "]", 1);
	Py_XDECREF(bytes);
	PyErr_Clear();
	return n;
}
