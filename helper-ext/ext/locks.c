/* SPDX-License-Identifier: MIT */
/*
 * locks.c - see locks.h. A hash table of addresses, at most half full, that holds only locks that exist. It has a lock
 * of its own that is held for a few instructions and never while anything else is called.
 */
#include "locks.h"

#include <limits.h>
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
	char library[PATH_MAX];	     /* the standard library; "": not known. No object: those are an interpreter's */
	const PyCodeObject *forking; /* only compared: the code that calls fork(), and where */
	int fork_at;
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

static PyThreadState *current(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#else
	return _PyThreadState_UncheckedGet();
#endif
}

/* Since CPython 3.11 it is in sys. */
static void find_library(void)
{
	PyObject *dir = PySys_GetObject("_stdlib_dir");
	const char *path = dir && PyUnicode_Check(dir) ? PyUnicode_AsUTF8(dir) : NULL;

	PyErr_Clear();
	if (!path || strlen(path) >= sizeof(locks.library))
		path = "";
	strcpy(locks.library, path);
}

void locks_start(Py_ssize_t direct)
{
	if (locks.interpreter)
		return;
	locks.direct = direct;
	find_library();
	locks.interpreter = PyInterpreterState_Get();
}

void locks_leave(void)
{
	if (locks.interpreter == PyInterpreterState_Get())
		locks_stop();
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

void locks_before_fork(void)
{
	PyThreadState *thread = locks.interpreter ? current() : NULL;
	PyFrameObject *frame = thread ? PyThreadState_GetFrame(thread) : NULL;
	PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;

	locks.forking = code;
	locks.fork_at = frame ? PyFrame_GetLasti(frame) : 0;
	Py_XDECREF(code);
	Py_XDECREF(frame);
}

void locks_after_fork(void)
{
	locks.forking = NULL;
}

/* A thread that is gone may have been changing it: then it is lost, with its memory. */
void locks_forked(void)
{
	if (atomic_flag_test_and_set(&locks.busy)) {
		locks.all = NULL;
		locks.used = 0;
	}
	release();
}

/* Does it make locks for those who call it? Of the standard library, not of the program's own files of these names. */
static bool is_maker(PyCodeObject *code)
{
	static const char *const files[] = { "/threading.py", "/queue.py", "/concurrent/futures/_base.py",
					     "/concurrent/futures/thread.py" };
	const char *name = PyUnicode_AsUTF8(code->co_filename);
	size_t prefix = strlen(locks.library);

	PyErr_Clear();
	if (!name || !prefix || strncmp(name, locks.library, prefix))
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(name + prefix, files[i]))
			return true;
	return false;
}

static bool is_wait(PyCodeObject *code)
{
	return !PyUnicode_CompareWithASCIIString(code->co_qualname, "Condition.wait") && is_maker(code);
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

#define LEFT_OUT UINT64_MAX /* of code that is not traced: who called it counts */

/* 0: not known, because it has not run an event yet, or is further from the first line than a word can say. */
static uint64_t place_in(PyFrameObject *frame, PyCodeObject *code)
{
	uint64_t value = codes_peek((PyObject *)code, locks.direct);
	uint64_t id = value >= CODE_READY ? value >> MARKER_CODE_SHIFT & MARKER_CODE_MAX : value & MARKER_CODE_MAX;
	int line = PyFrame_GetLineNumber(frame) - code->co_firstlineno;

	if (value < CODE_READY && value & CODE_FILTERED)
		return LEFT_OUT;
	if (!id || (value < CODE_READY && value & CODE_NO_ID) || line < 0 || line > (int)MARKER_PLACE_LINES)
		return 0;
	return id << MARKER_PLACE_SHIFT | (uint64_t)line;
}

/* In a child, what os.fork() calls makes locks anew, and nobody's line has made them. */
static bool is_forking(PyFrameObject *frame, PyCodeObject *code)
{
	return code == locks.forking && PyFrame_GetLasti(frame) == locks.fork_at;
}

static uint64_t place_of_frame(PyFrameObject *frame, PyCodeObject *code)
{
	if (is_forking(frame, code))
		return 0;
	if (is_wait(code))
		return place_of_condition(frame);
	return is_maker(code) ? LEFT_OUT : place_in(frame, code);
}

#define FRAMES_MOST 16 /* that are looked at: each costs 60 ns */

/* Of the innermost frame that has a place; of a condition's lock, the condition's. */
static uint64_t place_now(PyThreadState *thread)
{
	PyFrameObject *frame = PyThreadState_GetFrame(thread);
	uint64_t place = LEFT_OUT;

	for (int i = 0; frame && i < FRAMES_MOST && place == LEFT_OUT; i++) {
		PyCodeObject *code = PyFrame_GetCode(frame);
		PyFrameObject *back;

		place = place_of_frame(frame, code);
		back = place == LEFT_OUT ? PyFrame_GetBack(frame) : NULL;
		Py_DECREF(code);
		Py_DECREF(frame);
		frame = back;
	}
	Py_XDECREF(frame);
	return place == LEFT_OUT ? 0 : place;
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
