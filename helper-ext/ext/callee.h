/* SPDX-License-Identifier: MIT */
/*
 * callee.h - ids of what a CALL calls that is not written in Python.
 *
 * They belong to the definition, not to the object that is called, which often lives for that call only: a function's
 * or method's PyMethodDef, a slot wrapper's slot, a type; of any other object its type, which defines what a call does.
 * No reference is kept and no name looked up until a definition is seen for the first time. Its address may be that of
 * another one later: types are told apart by their names too (`check`), PyMethodDefs are not, as in cProfile.
 *
 * A thread reads the table without a lock while others add to it: an entry's value is stored before its address, and a
 * larger table is complete before it is published. Those it replaces are freed when nobody can be reading any more.
 */
#pragma once

#include <Python.h>
#include <stdatomic.h>
#include <stdint.h>

#include "codes.h"

#define CALLEE_PYTHON	    1u /* written in Python, or no end will be reported: no C function is called */
#define CALLEE_NO_ID	    2u /* all ids are used up */
#define CALLEE_LIKE_BUILTIN 3u /* of a type only: its objects have definitions of their own (callee_is_like_builtin) */
/* From here on it is the id where a C_CALL wants it; up to CALLEE_LAST it fits there. */
#define CALLEE_READY (1ull << MARKER_CALLEE_SHIFT)
#define CALLEE_LAST  ((uint64_t)MARKER_C_CODE_MAX << MARKER_CALLEE_SHIFT)

/* What identifies a definition. */
struct definition {
	uintptr_t address; /* 0: none is known for the object */
	uint64_t check;
};

struct callee {
	_Alignas(32) _Atomic uintptr_t address; /* 0: nothing is here */
	uint64_t check;
	uint64_t value;
};

struct callees {
	struct callees *before; /* the one that it replaced */
	size_t used;
	unsigned int shift; /* of a hash: 64 minus the table's size in bits */
	struct callee all[];
};
extern struct callees *_Atomic callees;

static inline uint64_t callee_hash(struct definition d)
{
	return (d.address ^ d.check) * 0x9e3779b97f4a7c15u;
}

/* The entry of that definition, or the free one where it belongs. */
static inline struct callee *callees_at(struct callees *t, struct definition d)
{
	size_t mask = ((size_t)1 << (64 - t->shift)) - 1;

	for (size_t i = callee_hash(d) >> t->shift;; i++) {
		struct callee *c = &t->all[i & mask];
		uintptr_t address = atomic_load_explicit(&c->address, memory_order_acquire);

		if (!address || (address == d.address && c->check == d.check))
			return c;
	}
}

/* 0: not seen yet. */
static inline uint64_t callees_find(struct definition d)
{
	struct callee *c = callees_at(atomic_load_explicit(&callees, memory_order_acquire), d);

	return atomic_load_explicit(&c->address, memory_order_relaxed) ? c->value : 0;
}

/* The same of any callable, for a CALL at that instruction; 0 also if it must be looked at more closely. */
uint64_t callees_other(PyObject *callable, PyObject *code, uint32_t offset);

/* callees_other(), without a call for the most frequent ones. */
static inline uint64_t callees_peek(PyObject *callable, PyObject *code, uint32_t offset)
{
	PyTypeObject *type = Py_TYPE(callable);

	if (type == &PyFunction_Type)
		return CALLEE_PYTHON;
	if (type == &PyCFunction_Type)
		return callees_find((struct definition){ (uintptr_t)((PyCFunctionObject *)callable)->m_ml, 0 });
	if (type == &PyMethodDescr_Type)
		return callees_find((struct definition){ (uintptr_t)((PyMethodDescrObject *)callable)->d_method, 0 });
	return callees_other(callable, code, offset);
}

/*
 * The value; a definition seen for the first time gets one and is written to the code table. `first` is the first
 * argument of the call, or not an argument of it. Calls Python. 0: since `session` tracing has ended.
 */
uint64_t callees_value(struct codes *c, PyObject *const *args, uint32_t session);

/*
 * The id of a type of exceptions, in the same way: with a line of its own, `exception`, in the code table. 0: all ids
 * are used up, or since `session` tracing has ended. May end tracing, as anything that makes objects.
 */
uint32_t callees_exception(struct codes *c, PyTypeObject *type, uint32_t session);

/* No interpreter traces any more. */
void callees_free(void);
