/* SPDX-License-Identifier: MIT */
/* hooks.c - see hooks.h. */
#include "hooks.h"

#include <string.h>

#include "contexts.h"
#include "greenlets.h"
#include "imports.h"
#include "tasks.h"

/* The names are those of CPython 3.12 to 3.15, trio 0.35 and opentelemetry-sdk 1.45; other releases may have others. */
static const struct hook hooks[] = {
	{ "<frozen importlib._bootstrap>", "_find_and_load", OP_PY_START, imports_begun, "name", 0, .anyway = true },
	{ "<frozen importlib._bootstrap>", "_find_and_load_unlocked", OP_PY_RETURN, greenlets_loaded, .anyway = true },
	{ "asyncio/base_events.py", "BaseEventLoop._call_soon", OP_PY_RETURN, tasks_handle_made },
	{ "asyncio/base_events.py", "BaseEventLoop.call_at", OP_PY_RETURN, tasks_timer_made },
	{ "asyncio/base_events.py", "BaseEventLoop.create_task", OP_PY_RETURN, tasks_made },
	{ "asyncio/tasks.py", "create_task", OP_PY_RETURN, tasks_made },
	{ "asyncio/tasks.py", "ensure_future", OP_PY_RETURN, tasks_made },
	{ "asyncio/taskgroups.py", "TaskGroup.create_task", OP_PY_RETURN, tasks_made },
	{ "asyncio/events.py", "Handle._run", OP_PY_START, tasks_handle_run, "self", 0 },
	{ "asyncio/events.py", "Handle.cancel", OP_PY_START, tasks_handle_cancelled, "self", 0 },
	/* Since 3.14 what call_soon_threadsafe() makes. When that returns, another thread may have run it already. */
	{ "asyncio/events.py", "_ThreadSafeHandle.__init__", OP_PY_START, tasks_self_made, "self", 0 },
	/* Where a thread waits for a job or an event (as concurrent.futures.wait() does), and what lets it go on. */
	{ "concurrent/futures/_base.py", "Future.result", OP_PY_START, tasks_awaited, "self", 0,
	  .each = tasks_awaited_unseen },
	{ "concurrent/futures/_base.py", "Future.exception", OP_PY_START, tasks_awaited, "self", 0,
	  .each = tasks_awaited_unseen },
	{ "threading.py", "Thread.join", OP_PY_START, tasks_awaited, "self", 0, .each = tasks_awaited_unseen },
	{ "threading.py", "Event.wait", OP_PY_START, tasks_awaited, "self", 0, .each = tasks_awaited_unseen },
	{ "concurrent/futures/_base.py", "Future.set_result", OP_PY_START, tasks_done, "self", 0 },
	{ "concurrent/futures/_base.py", "Future.set_exception", OP_PY_START, tasks_done, "self", 0 },
	{ "threading.py", "Event.set", OP_PY_START, tasks_done, "self", 0 },
	{ "threading.py", "Thread._delete", OP_PY_START, tasks_done, "self", 0 }, /* the last that a thread does */
	{ "concurrent/futures/thread.py", "ThreadPoolExecutor.submit", OP_PY_RETURN, tasks_job_made },
	{ "concurrent/futures/thread.py", "_WorkItem.run", OP_PY_START, tasks_job_run, "self", 0 },
	/* anyio's threads take jobs from a queue. */
	{ "/queue.py", "Queue.put_nowait", OP_PY_START, tasks_item_put, "item", 1 },
	{ "/queue.py", "Queue.get", OP_PY_RETURN, tasks_item_got },
	{ "threading.py", "Thread.start", OP_PY_START, tasks_self_made, "self", 0 },
	{ "threading.py", "Thread._bootstrap_inner", OP_PY_START, tasks_self_run, "self", 0 },
	{ "opentelemetry/sdk/trace/__init__.py", "Span.start", OP_PY_START, tasks_span_begun, "self", 0,
	  .anyway = true },
	{ "opentelemetry/sdk/trace/__init__.py", "Span.end", OP_PY_START, tasks_span_ended, "self", 0, .anyway = true },
	/* What @ocular.request and @ocular.span make of a coroutine function: a task's own coroutine may be one. */
	{ "ocular/decorator.py", "_coroutine.<locals>.call", .each = tasks_own },
	{ "trio/_core/_run.py", "Runner.spawn_impl", OP_PY_RETURN, contexts_spawned },
	{ "trio/_core/_run.py", "Runner.reschedule", OP_PY_START, tasks_rescheduled, "task", 1 },
	{ "trio/_core/_run.py", "Runner.task_exited", OP_PY_START, tasks_exited, "task", 1 },
	{ "trio/_core/_thread_cache.py", "ThreadCache.start_thread_soon", OP_PY_START, tasks_self_made, "fn", 1 },
	{ "trio/_core/_thread_cache.py", "WorkerThread._handle_job", OP_PY_START, tasks_worker_run, "self", 0 },
	{ "trio/_core/_entry_queue.py", "EntryQueue.run_sync_soon", OP_PY_START, tasks_entry_made, "args", 3 },
	{ "trio/_core/_entry_queue.py", "EntryQueue.task.<locals>.run_cb", OP_PY_START, tasks_entry_run, "job", 0 },
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), more = strlen(end);

	return length >= more && !strcmp(text + length - more, end);
}

/* Also those behind a `*`, and what that takes. */
static int arguments(const PyCodeObject *code)
{
	return code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS);
}

/* Is it where it is looked for, and no cell? */
static bool has_argument(PyCodeObject *code, const struct hook *h)
{
	PyObject *names = PyCode_GetVarnames(code), *cells = PyCode_GetCellvars(code);
	PyObject *name = h->argument ? PyUnicode_FromString(h->argument) : NULL;
	bool has = !h->argument;

	if (names && cells && name && arguments(code) > h->at)
		has = !PyUnicode_Compare(PyTuple_GET_ITEM(names, h->at), name) && !PySequence_Contains(cells, name);
	PyErr_Clear();
	Py_XDECREF(name);
	Py_XDECREF(names);
	Py_XDECREF(cells);
	return has;
}

const struct hook *hooks_find(const struct codes *c, PyCodeObject *code)
{
	const char *qualname = PyUnicode_AsUTF8(code->co_qualname), *file = NULL;

	for (size_t i = 0; qualname && i < sizeof(hooks) / sizeof(*hooks); i++) {
		if (strcmp(qualname, hooks[i].qualname))
			continue;
		file = file ? file : PyUnicode_AsUTF8(code->co_filename);
		if (file && ends_with(file, hooks[i].file))
			return (hooks[i].anyway || c->identified) && has_argument(code, &hooks[i]) ? &hooks[i] : NULL;
		if (!file)
			break;
	}
	PyErr_Clear();
	return NULL;
}

const struct hook *hooks_own(void)
{
	static const struct hook own = { .each = tasks_own };

	return &own;
}

const struct hook *hooks_beginning(void)
{
	static const struct hook begins = { .op = OP_PY_START, .before = contexts_beginning };

	return &begins;
}
