/* SPDX-License-Identifier: MIT */
/* world.c - see world.h. */
#include "world.h"

#ifdef Py_GIL_DISABLED

struct call {
	void (*function)(void *arg);
	void *arg;
};

static int visit(PyObject *any, void *arg)
{
	const struct call *call = arg;

	call->function(call->arg);
	return 0; /* one visit is enough */
}

/*
 * Stopping the world is not in CPython's API, but PyUnstable_GC_VisitObjects() does it around its visits, and there is
 * always an object to visit. It also holds the lock of the runtime's lists of threads.
 */
void world_stop(void (*function)(void *arg), void *arg)
{
	struct call call = { function, arg };

	PyUnstable_GC_VisitObjects(visit, &call);
}

#else

void world_stop(void (*function)(void *arg), void *arg)
{
	function(arg);
}

#endif
