/* SPDX-License-Identifier: MIT */
/* tasks.c - see tasks.h. */
#include "tasks.h"

#include <string.h>
#include <time.h>

#include "identity.h"
#include "names.h"

int tasks_open(struct codes *c)
{
	static const char *const texts[] = {
#define W(name, text) [WORD_##name] = text,
		TASK_ATTRIBUTES(W)
#undef W
	};
	int err = 0;

	for (int i = 0; i < TASK_WORDS && !err; i++)
		err = !(c->words[i] = PyUnicode_InternFromString(texts[i]));
	return err ? -1 : 0;
}

void tasks_close(struct codes *c)
{
	for (int i = 0; i < TASK_WORDS; i++)
		Py_CLEAR(c->words[i]);
}

/*
 * All these are new references or NULL, without an exception. Most callbacks are no task's: what they lack must not be
 * an AttributeError first, whose text alone takes a microsecond.
 */
static PyObject *attribute(const struct codes *c, PyObject *object, enum task_word name)
{
	PyObject *found = NULL;

#if PY_VERSION_HEX >= 0x030d0000
	if (object && PyObject_GetOptionalAttr(object, c->words[name], &found) < 0)
#else
	if (object && _PyObject_LookupAttr(object, c->words[name], &found) < 0)
#endif
		PyErr_Clear();
	return found;
}

/* Does its type have what asyncio's tasks have? Looks at types only, which runs nothing of an object's. */
static bool is_task(const struct codes *c, PyObject *object)
{
	return object && _PyType_Lookup(Py_TYPE(object), c->words[WORD_GET_CORO]);
}

/* Those have methods for what trio's have attributes for. */
static PyObject *ask(const struct codes *c, PyObject *task, enum task_word method, enum task_word name)
{
	PyObject *found = is_task(c, task) ? PyObject_CallMethodNoArgs(task, c->words[method])
					   : attribute(c, task, name);

	PyErr_Clear();
	return found;
}

/*
 * An eager task that has ended where it was made has no coroutine any more. CPython 3.12.1 crashes when it is asked for
 * that; later ones answer None.
 */
static bool has_coroutine(const struct codes *c, PyObject *task)
{
	PyObject *done = is_task(c, task) ? PyObject_CallMethodNoArgs(task, c->words[WORD_DONE]) : NULL;
	bool has = done != Py_True;

	PyErr_Clear();
	Py_XDECREF(done);
	return has;
}

PyObject *tasks_coroutine(const struct codes *c, PyObject *task)
{
	if (PY_VERSION_HEX < 0x030d0000 && !has_coroutine(c, task))
		return NULL;
	return ask(c, task, WORD_GET_CORO, WORD_CORO);
}

static PyObject *name_of(const struct codes *c, PyObject *task)
{
	PyObject *name = ask(c, task, WORD_GET_NAME, WORD_NAME);

	if (name && !PyUnicode_CheckExact(name))
		Py_CLEAR(name);
	return name;
}

void tasks_write(struct codes *c, uint32_t session, enum subject what, uint64_t whom)
{
	struct lane *l = codes_lane(c, session, 1);

	if (l)
		lane_write(l, marker_subject(what, whom));
}

static void write_address(struct codes *c, uint32_t session, enum subject what, const void *address)
{
	tasks_write(c, session, what, (uintptr_t)address >> IDENTITY_ADDRESS);
}

/* N of Task-N, the name that asyncio gives a task that has none; 0: it is another one. */
static uint64_t default_number(PyObject *name)
{
	static const char prefix[] = "Task-";
	const char *text = PyUnicode_AsUTF8(name), *digits = text ? text + strlen(prefix) : NULL;
	char *end;
	unsigned long long n;

	PyErr_Clear();
	if (!text || strncmp(text, prefix, strlen(prefix)) || *digits < '1' || *digits > '9')
		return 0;
	n = strtoull(digits, &end, 10);
	return *end || n >= MARKER_NUMBERED_TASK ? 0 : n;
}

/* Its name, or 0, as the word wants it. */
static uint64_t name_number(struct codes *c, uint32_t session, PyObject *name)
{
	uint64_t n = name ? default_number(name) : 0;

	if (n)
		return MARKER_NUMBERED_TASK | n;
	return name ? names_id(&c->names, name, session) : 0;
}

static void tell(struct codes *c, uint32_t session, enum subject what, uint64_t coroutine, PyObject *name)
{
	uint64_t number = name_number(c, session, name);
	struct lane *l = codes_lane(c, session, 2);

	if (!l)
		return;
	lane_write(l, marker_subject(SUBJECT_NAME, number));
	lane_write(l, marker_subject(what, coroutine));
}

/* Not if its code is left out, or uses up the ids. */
bool tasks_start_is_told(struct codes *c, uint32_t session, PyObject *coroutine)
{
	PyObject *code, *globals;
	uint64_t value;

	if (!identity_to_come(coroutine, &code, &globals))
		return false;
	value = codes_value_in(c, code, globals, session);
	return value >= CODE_READY || (value && !(value & (CODE_FILTERED | CODE_NO_ID)));
}

/* Of what is left out there are no events: but when a task runs is known from those of its own coroutine. */
static void follow_own(struct codes *c, uint32_t session, PyObject *coroutine)
{
	PyObject *code, *globals;

	if (!tasks_start_is_told(c, session, coroutine) && identity_to_come(coroutine, &code, &globals))
		codes_follow(c, code, hooks_own());
}

/* A task that is seen for the first time. Returns as tasks_see(). */
static uint64_t tell_new(struct codes *c, uint32_t session, PyObject *task)
{
	PyObject *coroutine = tasks_coroutine(c, task), *name = name_of(c, task);
	bool begun = true;
	uint64_t address = coroutine ? identity_of(coroutine, &begun) : 0;

	if (address && !begun)
		follow_own(c, session, coroutine);
	if (address && c->session == session) {
		told_put(&c->tasks, task, address, name, ticks_now());
		tell(c, session, begun ? SUBJECT_TASK_OLDER : SUBJECT_TASK_MADE, address, name);
	}
	Py_XDECREF(coroutine);
	Py_XDECREF(name);
	return begun ? address : 0;
}

static bool is_other(PyObject *name, PyObject *before)
{
	return name && name != before && (!before || PyUnicode_Compare(name, before));
}

/* One that is known; has its name changed? */
static uint64_t tell_again(struct codes *c, uint32_t session, PyObject *task, const struct told *t)
{
	PyObject *name = name_of(c, task);

	if (is_other(name, t->name) && c->session == session) {
		told_put(&c->tasks, task, t->coroutine, name, t->seen);
		tell(c, session, SUBJECT_TASK_OLDER, t->coroutine, name);
	}
	PyErr_Clear();
	Py_XDECREF(name);
	return t->coroutine;
}

uint64_t tasks_see(struct codes *c, uint32_t session, PyObject *task)
{
	PyObject *row = told_find(&c->tasks, task);
	uint64_t address = row ? tell_again(c, session, task, told_get(&c->tasks, row)) : tell_new(c, session, task);

	Py_XDECREF(row);
	return address;
}

/* Whose method, bound or built in, a Handle calls: a new reference, or NULL. */
static PyObject *handled_by(const struct codes *c, PyObject *handle)
{
	PyObject *callback = attribute(c, handle, WORD_CALLBACK), *self = attribute(c, callback, WORD_SELF);

	Py_XDECREF(callback);
	return self;
}

PyObject *tasks_called(const struct codes *c, PyObject *callback)
{
	PyObject *self = attribute(c, callback, WORD_SELF);

	if (self && !is_task(c, self))
		Py_CLEAR(self);
	return self;
}

void tasks_own(struct codes *c, uint32_t session, PyObject *code, enum marker_op op)
{
	static const enum subject what[] = {
		[OP_PY_START] = SUBJECT_TASK_RUNS,  [OP_PY_RESUME] = SUBJECT_TASK_RUNS,
		[OP_PY_THROW] = SUBJECT_TASK_RUNS,  [OP_PY_YIELD] = SUBJECT_TASK_RESTS,
		[OP_PY_RETURN] = SUBJECT_TASK_ENDS, [OP_PY_UNWIND] = SUBJECT_TASK_ENDS,
	};
	uint64_t address = identity_in(identity_frame(), code);

	if (address && op == OP_PY_START)
		tasks_write(c, session, SUBJECT_TASK_STARTED, address);
	if (address)
		tasks_write(c, session, what[op], address);
}

void tasks_handle_made(struct codes *c, uint32_t session, PyObject *handle, bool shown)
{
	PyObject *self = handled_by(c, handle);

	if (is_task(c, self)) {
		uint64_t coroutine = tasks_see(c, session, self);

		if (coroutine)
			tasks_write(c, session, SUBJECT_TASK_WOKEN, coroutine);
	} else {
		write_address(c, session, SUBJECT_JOB_MADE, handle);
	}
	Py_XDECREF(self);
}

/* In ns from now, by CLOCK_MONOTONIC, which loop.time() reads unless a loop has a clock of its own. */
static double time_to(double when)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (when - (double)now.tv_sec) * 1e9 - (double)now.tv_nsec;
}

/* One that is late already was made with a delay of 0. */
void tasks_timer(struct codes *c, uint32_t session, double ns, const void *job)
{
	if (ns <= -1e9 || ns >= (double)MARKER_SUBJECT_MAX)
		return;
	if (ns > 0)
		tasks_write(c, session, SUBJECT_DUE, (uint64_t)ns);
	write_address(c, session, SUBJECT_JOB_MADE, job);
}

void tasks_timer_made(struct codes *c, uint32_t session, PyObject *handle, bool shown)
{
	PyObject *when = attribute(c, handle, WORD_WHEN);

	if (when && PyFloat_CheckExact(when))
		tasks_timer(c, session, time_to(PyFloat_AS_DOUBLE(when)), handle);
	Py_XDECREF(when);
}

/* A step of a task. */
static void begin(struct codes *c, uint32_t session, PyObject *task, bool shown)
{
	PyObject *coroutine = tasks_coroutine(c, task);
	bool begun = true;
	uint64_t address = coroutine ? identity_of(coroutine, &begun) : 0;

	if (address)
		tasks_write(c, session, shown ? SUBJECT_TASK_BEGUN : SUBJECT_TASK_UNSEEN, address);
	if (address && !begun && tasks_start_is_told(c, session, coroutine))
		tasks_write(c, session, SUBJECT_TASK_STARTED, address);
	Py_XDECREF(coroutine);
}

void tasks_handle_run(struct codes *c, uint32_t session, PyObject *handle, bool shown)
{
	PyObject *self = handled_by(c, handle);

	if (is_task(c, self))
		begin(c, session, self, shown);
	else
		write_address(c, session, shown ? SUBJECT_JOB_BEGUN : SUBJECT_JOB_UNSEEN, handle);
	Py_XDECREF(self);
}

void tasks_handle_cancelled(struct codes *c, uint32_t session, PyObject *handle, bool shown)
{
	write_address(c, session, SUBJECT_JOB_DROPPED, handle);
}

void tasks_made(struct codes *c, uint32_t session, PyObject *task, bool shown)
{
	bool is = is_task(c, task);
	PyObject *coroutine = is ? NULL : attribute(c, task, WORD_CORO); /* trio's */

	if (is || coroutine)
		tasks_see(c, session, task);
	Py_XDECREF(coroutine);
}

void tasks_rescheduled(struct codes *c, uint32_t session, PyObject *task, bool shown)
{
	uint64_t coroutine = tasks_see(c, session, task);

	if (coroutine)
		tasks_write(c, session, SUBJECT_TASK_WOKEN, coroutine);
}

/* Where that is left out, no frame tells when what it does for the task is over. */
void tasks_exited(struct codes *c, uint32_t session, PyObject *task, bool shown)
{
	PyObject *coroutine = shown ? attribute(c, task, WORD_CORO) : NULL;

	if (coroutine)
		write_address(c, session, SUBJECT_TASK_BEGUN, coroutine);
	Py_XDECREF(coroutine);
}

/* A job is known by its function, which trio makes for it alone: (function, deliver, name). */
void tasks_worker_run(struct codes *c, uint32_t session, PyObject *worker, bool shown)
{
	PyObject *job = attribute(c, worker, WORD_JOB);

	if (job && PyTuple_CheckExact(job) && PyTuple_GET_SIZE(job) > 0)
		write_address(c, session, shown ? SUBJECT_JOB_BEGUN : SUBJECT_JOB_UNSEEN, PyTuple_GET_ITEM(job, 0));
	Py_XDECREF(job);
}

/* Did trio's functions for threads make it, for one call? */
static bool is_for_one_call(PyObject *function)
{
	static const char file[] = "/trio/_threads.py";
	PyObject *own = PyMethod_Check(function) ? PyMethod_GET_FUNCTION(function) : function;
	PyCodeObject *code = PyFunction_Check(own) ? (PyCodeObject *)PyFunction_GET_CODE(own) : NULL;
	const char *name = code ? PyUnicode_AsUTF8(code->co_filename) : NULL;
	size_t length = name ? strlen(name) : 0;

	PyErr_Clear();
	return length >= strlen(file) && !strcmp(name + length - strlen(file), file);
}

/* What nothing else can be: the tuple of arguments, or, as () is always the same one, the function; or NULL. */
static const PyObject *entry(PyObject *function, PyObject *args)
{
	if (!function || !PyTuple_CheckExact(args))
		return NULL;
	if (PyTuple_GET_SIZE(args))
		return args;
	return is_for_one_call(function) ? function : NULL;
}

void tasks_entry_made(struct codes *c, uint32_t session, PyObject *args, bool shown)
{
	const PyObject *what = entry(identity_argument(1), args);

	if (what)
		write_address(c, session, SUBJECT_JOB_MADE, what);
}

void tasks_entry_run(struct codes *c, uint32_t session, PyObject *job, bool shown)
{
	bool pair = shown && PyTuple_CheckExact(job) && PyTuple_GET_SIZE(job) == 2;
	const PyObject *what = pair ? entry(PyTuple_GET_ITEM(job, 0), PyTuple_GET_ITEM(job, 1)) : NULL;

	if (what)
		write_address(c, session, SUBJECT_JOB_BEGUN, what);
}

void tasks_job_made(struct codes *c, uint32_t session, PyObject *future, bool shown)
{
	write_address(c, session, SUBJECT_JOB_MADE, future);
}

/* A job is known by its future: submit() gives nothing else away. */
void tasks_job_run(struct codes *c, uint32_t session, PyObject *item, bool shown)
{
	PyObject *future = attribute(c, item, WORD_FUTURE);

	if (future)
		write_address(c, session, shown ? SUBJECT_JOB_BEGUN : SUBJECT_JOB_UNSEEN, future);
	Py_XDECREF(future);
}

/* The future of a job for anyio's WorkerThread: (context, function, arguments, future, scope); borrowed, or NULL. */
static PyObject *job_of(const struct codes *c, PyObject *item)
{
	PyObject *future = PyTuple_CheckExact(item) && PyTuple_GET_SIZE(item) == 5 ? PyTuple_GET_ITEM(item, 3) : NULL;

	if (!future || !PyContext_CheckExact(PyTuple_GET_ITEM(item, 0)))
		return NULL;
	return _PyType_Lookup(Py_TYPE(future), c->words[WORD_GET_LOOP]) ? future : NULL;
}

void tasks_item_put(struct codes *c, uint32_t session, PyObject *item, bool shown)
{
	PyObject *future = job_of(c, item);

	if (future)
		write_address(c, session, SUBJECT_JOB_MADE, future);
}

/* What called get() does it from here on. */
void tasks_item_got(struct codes *c, uint32_t session, PyObject *item, bool shown)
{
	PyObject *future = job_of(c, item);

	if (future)
		write_address(c, session, shown ? SUBJECT_JOB_BEGUN : SUBJECT_JOB_UNSEEN, future);
}

void tasks_self_made(struct codes *c, uint32_t session, PyObject *thread, bool shown)
{
	write_address(c, session, SUBJECT_JOB_MADE, thread);
}

void tasks_self_run(struct codes *c, uint32_t session, PyObject *thread, bool shown)
{
	write_address(c, session, shown ? SUBJECT_JOB_BEGUN : SUBJECT_JOB_UNSEEN, thread);
}

void tasks_awaited(struct codes *c, uint32_t session, PyObject *job, bool shown)
{
	write_address(c, session, SUBJECT_JOB_AWAITED, job);
}

/* There is no event from which the reader knew when that is over. */
void tasks_awaited_unseen(struct codes *c, uint32_t session, PyObject *code, enum marker_op op)
{
	bool is_running = identity_is_of(identity_frame(), code);

	if (op == OP_PY_START && is_running)
		tasks_awaited(c, session, identity_argument(0), false);
	else if (op == OP_PY_RETURN || op == OP_PY_UNWIND)
		tasks_write(c, session, SUBJECT_JOB_AWAITED, 0);
}

void tasks_done(struct codes *c, uint32_t session, PyObject *job, bool shown)
{
	write_address(c, session, SUBJECT_JOB_DONE, job);
}

/* Is what it belongs to in another process, or nowhere? */
static bool is_root(const struct codes *c, PyObject *span)
{
	PyObject *parent = attribute(c, span, WORD_PARENT), *remote = NULL;
	bool is = parent == Py_None;

	if (parent && !is) {
		remote = attribute(c, parent, WORD_IS_REMOTE);
		is = remote == Py_True;
	}
	Py_XDECREF(remote);
	Py_XDECREF(parent);
	return is;
}

/* 32 bits of it, from that one on. */
static uint32_t piece(PyObject *number, unsigned int from)
{
	PyObject *bits = PyLong_FromUnsignedLong(from), *above = bits ? PyNumber_Rshift(number, bits) : NULL;
	unsigned long value = above ? PyLong_AsUnsignedLongMask(above) : 0;

	PyErr_Clear();
	Py_XDECREF(above);
	Py_XDECREF(bits);
	return (uint32_t)value;
}

static unsigned int write_pieces(struct codes *c, uint32_t session, PyObject *number, unsigned int at, unsigned int n)
{
	while (n--)
		tasks_write(c, session, SUBJECT_TRACED,
			    (uint64_t)at++ << MARKER_PIECE_SHIFT | piece(number, n * MARKER_PIECE_SHIFT));
	return at;
}

/* The numbers by which others know the span. Its context is a tuple: (trace id, span id, ...). */
static void tell_numbers(struct codes *c, uint32_t session, PyObject *span)
{
	PyObject *context = attribute(c, span, WORD_SPAN_CONTEXT);
	bool tuple = context && PyTuple_Check(context) && PyTuple_GET_SIZE(context) > 1;
	PyObject *trace = tuple ? PyTuple_GET_ITEM(context, 0) : NULL,
		 *own = tuple ? PyTuple_GET_ITEM(context, 1) : NULL;

	if (tuple && PyLong_CheckExact(trace) && PyLong_CheckExact(own))
		write_pieces(c, session, own, write_pieces(c, session, trace, 0, MARKER_TRACE_PIECES),
			     MARKER_SPAN_PIECES);
	Py_XDECREF(context);
}

void tasks_span_begun(struct codes *c, uint32_t session, PyObject *span, bool shown)
{
	PyObject *name = is_root(c, span) ? attribute(c, span, WORD_SPAN_NAME) : NULL;

	if (name && PyUnicode_CheckExact(name)) {
		tell_numbers(c, session, span);
		tell(c, session, SUBJECT_REQUEST_BEGUN, (uintptr_t)span >> IDENTITY_ADDRESS, name);
	}
	Py_XDECREF(name);
}

void tasks_span_ended(struct codes *c, uint32_t session, PyObject *span, bool shown)
{
	if (is_root(c, span))
		write_address(c, session, SUBJECT_REQUEST_ENDED, span);
}
