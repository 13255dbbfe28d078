/* SPDX-License-Identifier: MIT */
/*
 * locks.c - see locks.h. A hash table of addresses, at most half full, that holds only locks that exist. It has a lock
 * of its own that is held for a few instructions and never while anything else is called.
 */
#include "locks.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codes.h"

#define FIRST_BITS 8

struct made {
	const void *lock; /* NULL: nothing is here */
	uint64_t place;
};

static struct {
	atomic_flag busy;
	struct made *all; /* NULL: none yet */
	unsigned int bits;
	size_t used;
	PyInterpreterState *_Atomic interpreter; /* NULL: it has not begun */
	Py_ssize_t direct;
} locks = { .busy = ATOMIC_FLAG_INIT };

static void hold(void)
{
	while (atomic_flag_test_and_set_explicit(&locks.busy, memory_order_acquire))
		sched_yield();
}

static void release(void)
{
	atomic_flag_clear_explicit(&locks.busy, memory_order_release);
}

static size_t mask(void)
{
	return ((size_t)1 << locks.bits) - 1;
}

static size_t home(const void *lock)
{
	return (uintptr_t)lock * 0x9e3779b97f4a7c15u >> (64 - locks.bits);
}

/* Its index, or that of the free entry where it belongs. */
static size_t find(const void *lock)
{
	size_t i = home(lock);

	while (locks.all[i].lock && locks.all[i].lock != lock)
		i = (i + 1) & mask();
	return i;
}

static void put(const void *lock, uint64_t place)
{
	size_t i = find(lock);

	locks.used += !locks.all[i].lock;
	locks.all[i] = (struct made){ lock, place };
}

/* Room for one more. False: no memory. */
static bool grow(void)
{
	struct made *old = locks.all;
	size_t size = old ? mask() + 1 : 0;
	struct made *larger;

	if (2 * (locks.used + 1) <= size)
		return true;
	larger = calloc(old ? 2 * size : (size_t)1 << FIRST_BITS, sizeof(*larger));
	if (!larger)
		return false;
	locks.bits = old ? locks.bits + 1 : FIRST_BITS;
	locks.all = larger;
	locks.used = 0;
	for (size_t i = 0; i < size; i++)
		if (old[i].lock)
			put(old[i].lock, old[i].place);
	free(old);
	return true;
}

/* Those behind it that a search would not find any more move up. */
static void take_out(size_t free_entry)
{
	for (size_t i = (free_entry + 1) & mask(); locks.all[i].lock; i = (i + 1) & mask())
		if (((i - home(locks.all[i].lock)) & mask()) >= ((i - free_entry) & mask())) {
			locks.all[free_entry] = locks.all[i];
			free_entry = i;
		}
	locks.all[free_entry] = (struct made){ 0 };
	locks.used--;
}

void locks_start(Py_ssize_t direct)
{
	if (locks.interpreter)
		return;
	locks.direct = direct;
	locks.interpreter = PyInterpreterState_Get();
}

void locks_stop(void)
{
	locks.interpreter = NULL;
	hold();
	free(locks.all);
	locks.all = NULL;
	locks.used = 0;
	release();
}

void locks_forked(void)
{
	release();
}

static bool ends_with(PyObject *name, const char *end)
{
	Py_ssize_t length = 0, n = (Py_ssize_t)strlen(end);
	const char *text = PyUnicode_AsUTF8AndSize(name, &length);

	PyErr_Clear();
	return text && length >= n && !memcmp(text + length - n, end, (size_t)n);
}

/* Does it make locks for those who call it? */
static bool is_maker(PyCodeObject *code)
{
	static const char *const files[] = { "/threading.py", "/queue.py", "/concurrent/futures/_base.py",
					     "/concurrent/futures/thread.py" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (ends_with(code->co_filename, files[i]))
			return true;
	return false;
}

static bool is_wait(PyCodeObject *code)
{
	return !PyUnicode_CompareWithASCIIString(code->co_qualname, "Condition.wait") &&
	       ends_with(code->co_filename, "/threading.py");
}

/* The objects of _thread.lock and RLock (Modules/_threadmodule.c). */
struct lock_object {
	PyObject base;
	const void *lock;
};

/*
 * Condition.wait() makes a lock for each wait. What is waited for is the condition: where that's own lock was made. No
 * attribute is asked for, since that may run code of the program.
 */
static uint64_t place_of_condition(PyFrameObject *frame)
{
	PyObject *self = PyFrame_GetVarString(frame, "self");
	PyObject *dict = self ? PyObject_GenericGetDict(self, NULL) : NULL;
	PyObject *own = dict ? PyDict_GetItemString(dict, "_lock") : NULL;
	uint64_t place = 0;

	if (own && (!strcmp(Py_TYPE(own)->tp_name, "_thread.lock") || !strcmp(Py_TYPE(own)->tp_name, "_thread.RLock")))
		place = locks_place(((struct lock_object *)own)->lock);
	PyErr_Clear();
	Py_XDECREF(self);
	Py_XDECREF(dict);
	return place;
}

/* 0: it is not traced. */
static uint64_t place_in(PyFrameObject *frame, PyCodeObject *code)
{
	uint64_t value = codes_peek((PyObject *)code, locks.direct);
	uint64_t id = value >= CODE_READY ? value >> MARKER_CODE_SHIFT & MARKER_CODE_MAX : value & MARKER_CODE_MAX;
	int line = PyFrame_GetLineNumber(frame) - code->co_firstlineno;

	if (value < CODE_READY && value & (CODE_FILTERED | CODE_NO_ID))
		return 0;
	return id ? id << MARKER_PLACE_SHIFT | (line < 0 ? 0 : Py_MIN(line, (int)MARKER_PLACE_LINES)) : 0;
}

/* Of the innermost frame that has a place; of a condition's lock, the condition's. */
static uint64_t place_now(PyThreadState *thread)
{
	PyFrameObject *frame = PyThreadState_GetFrame(thread);
	uint64_t place = 0;

	while (frame) {
		PyCodeObject *code = PyFrame_GetCode(frame);
		PyFrameObject *back = PyFrame_GetBack(frame);
		bool waits = is_wait(code);

		place = waits ? place_of_condition(frame) : is_maker(code) ? 0 : place_in(frame, code);
		Py_DECREF(code);
		Py_DECREF(frame);
		if (waits || place)
			Py_CLEAR(back);
		frame = back;
	}
	return place;
}

static PyThreadState *current(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#else
	return _PyThreadState_UncheckedGet();
#endif
}

void locks_made(const void *lock)
{
	PyThreadState *thread = locks.interpreter ? current() : NULL;
	uint64_t place = 0;

	if (!thread || thread->interp != locks.interpreter || PyErr_Occurred())
		return;
	place = place_now(thread);
	if (!place)
		return;
	hold();
	if (locks.interpreter && grow())
		put(lock, place);
	release();
}

void locks_gone(const void *lock)
{
	size_t i;

	hold();
	i = locks.all ? find(lock) : 0;
	if (locks.all && locks.all[i].lock)
		take_out(i);
	release();
}

uint64_t locks_place(const void *lock)
{
	uint64_t place;

	hold();
	place = locks.all ? locks.all[find(lock)].place : 0;
	release();
	return place;
}
