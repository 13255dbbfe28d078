/* SPDX-License-Identifier: MIT */
/* callback.c - see callback.h. */
#include "callback.h"
#include "callee.h"
#include "greenlets.h"
#include "identity.h"
#include "hooks.h"
#include "scratch.h"
#include "table.h"
#include "threads.h"
#include "trigger.h"

/* A place in a code object: code units (or a line), and the distance of a jump from there. */
struct place {
	uint32_t offset;
	int32_t dist;
};

static uint64_t place_bits(struct place at)
{
	return (uint64_t)at.offset << MARKER_OFFSET_SHIFT | (uint8_t)at.dist;
}

static bool place_is_far(struct place at)
{
	return (uint32_t)(at.dist + MARKER_DIST_MAX) > 2 * MARKER_DIST_MAX;
}

static uint64_t place_wide(struct place at)
{
	return marker_wide(0, at.offset, at.dist ? at.offset + (uint32_t)at.dist : 0);
}

/*
 * The place whose bits the hot path computes, from numbers of any size: lines go up to 2^31. An offset that is not in
 * the code becomes the largest one that fits.
 */
static struct place place_exactly(enum emit_shape shape, PyObject *const *args)
{
	uint32_t at;

	if ((shape == EMIT_UNSURE || shape == EMIT_RAISE || shape == EMIT_OBJECT) &&
	    !callback_is_inside(args[0], args[1]))
		return (struct place){ MARKER_OFFSET_MAX, 0 };
	at = (uint32_t)PyLong_AsLong(args[1]);
	if (shape == EMIT_LINE)
		return (struct place){ at, 0 };
	if (shape == EMIT_DEST || shape == EMIT_BACKWARD || shape == EMIT_AMBIGUOUS)
		return (struct place){ at / 2, (int32_t)((uint32_t)PyLong_AsLong(args[2]) / 2 - at / 2) };
	return (struct place){ at / 2, 0 };
}

static void put_event(struct lane *l, struct callback *cb, uint64_t value, struct place at, bool wide)
{
	if (wide)
		lane_write(l, place_wide(at));
	if (value < CODE_READY)
		value = (value & MARKER_CODE_MAX) << MARKER_CODE_SHIFT;
	lane_write(l, cb->head | value | (place_bits(at) & (CODE_READY - 1)));
}

/* Does a call of a C function fit into one word? */
static bool is_short_call(uint64_t value, uint64_t callee, struct place at)
{
	return value - CODE_READY <= CODE_C_LAST - CODE_READY && callee <= CALLEE_LAST &&
	       at.offset <= MARKER_C_OFFSET_MAX;
}

/*
 * Of an exception, which one: CPython has put the frame that it is raised in first into its traceback, which has no
 * second one if it comes from there.
 */
static uint64_t exception_word(const struct callback *cb, PyObject *exception)
{
	PyObject *trace = PyExceptionInstance_Check(exception) ? PyException_GetTraceback(exception) : NULL;
	bool fresh = !trace || !PyTraceBack_Check(trace) || !((PyTracebackObject *)trace)->tb_next;
	uint32_t type = callees_exception(cb->codes, Py_TYPE(exception), cb->session);

	Py_XDECREF(trace);
	return marker_exception(fresh, (uintptr_t)exception, type);
}

/* Of an event of a generator or coroutine, which one, or that it is not known. */
static uint64_t object_word(PyObject *code)
{
	return marker_extension(0, KIND_OBJECT, identity_in(identity_frame(), code));
}

/* While a callback calls Python, another thread may run, end tracing, and begin anew. */
static bool is_over(const struct callback *cb)
{
	return cb->session != cb->codes->session;
}

static struct lane *open_lane(const struct callback *cb, unsigned int words)
{
	return codes_lane(cb->codes, cb->session, words);
}

/*
 * A thread's first word: its name goes into the table. The name may be a property, which runs arbitrary code. So the
 * lane is opened again; NULL, too, if the property stopped tracing.
 */
static struct lane *meet_thread(const struct callback *cb, struct lane *l, unsigned int words)
{
	bool named = l->named;

	l->named = l->met = true;
	table_begin();
	if (!named)
		threads_record(l->tid);
	greenlets_follow(cb->codes, named);
	return open_lane(cb, words);
}

static bool is_call(const struct callback *cb)
{
	return cb->shape == EMIT_CALL || cb->shape == EMIT_C_CALL;
}

/* Is it the event that the code's hook is for? */
static const struct hook *hook_of(const struct callback *cb, uint64_t value)
{
	const struct hook *hook = value & CODE_HOOK ? codes_hook(value) : NULL;

	return hook && hook->op == marker_op(cb->head) ? hook : NULL;
}

static void follow_hook(const struct callback *cb, const struct hook *hook, PyObject *const *args, bool shown)
{
	PyObject *value = Py_NewRef(hook->op == OP_PY_RETURN ? args[2] : identity_argument(hook->at));

	hook->follow(cb->codes, cb->session, value, shown);
	Py_DECREF(value);
}

/* After an event of code whose events all come here. */
static void follow_up(const struct callback *cb, PyObject *const *args, uint64_t value)
{
	const struct hook *hook = hook_of(cb, value);

	if (hook && hook->follow)
		follow_hook(cb, hook, args, true);
	if (value & CODE_TRIGGER)
		triggers_see(codes_triggers(value), marker_op(cb->head));
}

/* The event of code with that value (codes.h), after the word `before`, if it is not 0, and whatever else must come. */
static void write_event(struct callback *cb, PyObject *const *args, uint64_t value, uint64_t before, struct place at)
{
	bool wide = place_is_far(at) || at.offset > MARKER_OFFSET_MAX;
	unsigned int words = 1 + wide + !!before;
	struct lane *l = open_lane(cb, words);

	if (l && !l->met)
		l = meet_thread(cb, l, words);
	if (!l)
		return;
	if (before)
		lane_write(l, before);
	put_event(l, cb, value, at, wide);
	if (value < CODE_READY)
		follow_up(cb, args, value);
}

static void write_short_call(struct callback *cb, uint64_t value, uint64_t callee, struct place at)
{
	struct lane *l = open_lane(cb, 1);

	if (l && !l->met)
		l = meet_thread(cb, l, 1);
	if (l)
		lane_write(l, marker_c_call(0, 0, (uint32_t)(value >> MARKER_CODE_SHIFT), at.offset) | callee);
}

static void write_any(struct callback *cb, PyObject *const *args, uint64_t value, uint64_t callee, struct place at)
{
	const struct hook *hook = value < CODE_READY ? hook_of(cb, value) : NULL;

	if (hook && hook->before)
		hook->before(cb->codes, cb->session, args[0]);
	if (value == CODE_NO_ID)
		lanes_drop(1);
	else if (cb->shape == EMIT_RAISE)
		write_event(cb, args, value, exception_word(cb, args[2]), at);
	else if (cb->shape == EMIT_OBJECT)
		write_event(cb, args, value, object_word(args[0]), at);
	else if (callee < CALLEE_READY)
		write_event(cb, args, value, 0, at);
	else if (is_short_call(value, callee, at))
		write_short_call(cb, value, callee, at);
	else
		write_event(cb, args, value, marker_extension(0, KIND_CALLEE, callee >> MARKER_CALLEE_SHIFT), at);
}

/* Of a coroutine that is left out: is it an event that its hook is for? */
static bool is_each(const struct callback *cb, uint64_t value)
{
	enum marker_op op = marker_op(cb->head);

	return value & CODE_HOOK && codes_hook(value)->each && op >= OP_PY_START && op <= OP_PY_THROW;
}

/* It is left out; its hook is not. */
static PyObject *see_filtered(struct callback *cb, PyObject *const *args, uint64_t value)
{
	const struct hook *hook = hook_of(cb, value);

	if (is_each(cb, value)) {
		codes_hook(value)->each(cb->codes, cb->session, args[0], marker_op(cb->head));
		Py_RETURN_NONE;
	}
	if (!hook || !hook->follow)
		return Py_NewRef(cb->disable);
	follow_hook(cb, hook, args, false);
	Py_RETURN_NONE;
}

static PyObject *see_event(struct callback *cb, PyObject *const *args)
{
	struct place at;
	uint64_t value, callee = CALLEE_PYTHON;

	if (!PyCode_Check(args[0])) { /* callback_is_code() */
		lanes_drop(1);
		Py_RETURN_NONE;
	}
	at = place_exactly(cb->shape, args);
	if (scratch_wrap(cb->codes->view))
		return cb->call((PyObject *)cb, args, 0, NULL);
	if (cb->shape == EMIT_BACKWARD && at.dist > 0)
		return Py_NewRef(cb->disable);
	value = codes_value(cb->codes, args[0], cb->session);
	if (!value || is_over(cb))
		Py_RETURN_NONE;
	if (value < CODE_READY && value & CODE_FILTERED)
		return see_filtered(cb, args, value);
	if (is_call(cb))
		callee = callees_value(cb->codes, args, cb->session);
	if (!callee || (callee == CALLEE_PYTHON && cb->shape == EMIT_C_CALL))
		Py_RETURN_NONE;
	write_any(cb, args, value, callee, at);
	Py_RETURN_NONE;
}

/* CPython lends the callback, and releases it if tracing stops meanwhile. */
PyObject *callback_slow(struct callback *cb, PyObject *const *args)
{
	PyObject *result;

	Py_INCREF(cb);
	result = see_event(cb, args);
	Py_DECREF(cb);
	return result;
}
