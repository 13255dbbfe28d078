/* SPDX-License-Identifier: MIT */
/*
 * core.c - the module ocular._core: the part of tracing that needs C.
 *
 * The package drives it (monitor.py): ask the recorder, begin, make callbacks and register them with sys.monitoring; at
 * the end remove them, then close. Names and choices are there; what runs for each event, each code object and each
 * thread is here.
 */
#include <Python.h>
#include <errno.h>

#include "callee.h"
#include "callee_name.h"
#include "clock.h"
#include "codes.h"
#include "collector.h"
#include "dispatch_python.h"
#include "duty.h"
#include "emit.h"
#include "identity.h"
#include "frames.h"
#include "greenlets.h"
#include "labels.h"
#include "lane.h"
#include "pending.h"
#include "locks.h"
#include "process.h"
#include "processor.h"
#include "recorder.h"
#include "rings.h"
#include "running.h"
#include "scratch.h"
#include "setup.h"
#include "shared/ticks.h"
#include "snapshot.h"
#include "table.h"
#include "tasks.h"
#include "trigger.h"
#include "uvloop.h"
#include "waits.h"

struct state {
	struct labels labels; /* first: labels.c has it from its type */
	struct codes codes;
	struct greenlets greenlets;
	PyTypeObject *callback;
	bool counted; /* its frames: emit_frames() */
};

static struct state *state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

static PyObject *core_ask(PyObject *module, PyObject *arg)
{
	PyObject *dir;
	struct ring_config c;
	int err;

	if (!PyUnicode_FSConverter(arg, &dir))
		return NULL;
	err = recorder_ask(PyBytes_AS_STRING(dir), &c);
	Py_DECREF(dir);
	if (err)
		return setup_error(err);
	return Py_BuildValue("IIIKI(KKK)II", c.nrecords, c.wait_ms, c.recorder_pid, (unsigned long long)c.tsc_hz,
			     c.flight, (unsigned long long)c.duty.start_ns, (unsigned long long)c.duty.window_ns,
			     (unsigned long long)c.duty.period_ns, c.meet, c.coarse);
}

static PyObject *core_where(PyObject *module, PyObject *unused)
{
	char *dir = table_where();
	PyObject *path = dir ? PyUnicode_DecodeFSDefault(dir) : Py_NewRef(Py_None);

	free(dir);
	return path;
}

/* The duty cycle's thread takes the lock: it ends before a fork. */
static const struct process_fork forks[] = {
	{ .child = lanes_forked },
	{ .before = locks_before_fork, .after = locks_after_fork, .child = locks_forked },
	{ .child = table_forked },
	{ .before = duty_before_fork, .after = duty_after_fork, .child = duty_forked },
	{ 0 },
};

static PyObject *core_join(PyObject *module, PyObject *unused)
{
	struct codes *codes = &state_of(module)->codes;
	bool first;

	process_init(forks);
	first = process_join();
	codes->view = first && codes->direct == 0 ? LANE_FIRST : LANE_OTHERS;
	codes_begin(codes);
	greenlets_begin(codes->greenlets);
	return PyBool_FromLong(first);
}

/* The first ring at once: a program that cannot be traced must learn it before it runs. */
static int open_first(struct state *state)
{
	errno = 0;
	if (lane_open(state->codes.interpreter, state->codes.view, LANE_ALWAYS, 0))
		return 0;
	return errno ? -errno : -EAGAIN;
}

static PyObject *core_processor(PyObject *module, PyObject *arg)
{
	PyObject *pmu;
	struct processor p;

	if (!PyUnicode_FSConverter(arg, &pmu))
		return NULL;
	processor_look(&p, PyBytes_GET_SIZE(pmu) ? PyBytes_AS_STRING(pmu) : PROCESSOR_PT_PMU);
	Py_DECREF(pmu);
	return Py_BuildValue("{sOsOsOsOsK}", "pt", p.pt ? Py_True : Py_False, "ptwrite", p.ptwrite ? Py_True : Py_False,
			     "kernel", p.kernel ? Py_True : Py_False, "kernel_ptwrite",
			     p.kernel_ptwrite ? Py_True : Py_False, "tsc_hz", (unsigned long long)p.tsc_hz);
}

static PyObject *core_choose(PyObject *module, PyObject *args)
{
	int backend, coarse, numbers;

	if (!PyArg_ParseTuple(args, "ipp", &backend, &coarse, &numbers))
		return NULL;
	if (backend < 0 || backend >= BACKENDS || (backend != BACKEND_SOFTWARE && !ARCH_TRACES))
		return setup_error(-EINVAL);
	lanes_choose((enum backend)backend, coarse, numbers);
	Py_RETURN_NONE;
}

static int stop_tracing(void *unused)
{
	PyObject *pending = PyErr_GetRaisedException();
	PyObject *monitor = PyImport_ImportModule("ocular.monitor");
	PyObject *done = monitor ? PyObject_CallMethod(monitor, "stop", NULL) : NULL;

	PyErr_Clear();
	Py_XDECREF(done);
	Py_XDECREF(monitor);
	PyErr_SetRaisedException(pending);
	return 0;
}

/*
 * The recorder is gone, and with it whoever attached: the program must become as before. Not from within a callback,
 * but soon, by any thread: the main one may sleep for good. If the queue is full, next time.
 */
static void deserted(void)
{
	_PyEval_AddPendingCall(PyInterpreterState_Get(), stop_tracing, NULL, 0);
}

/* hz: of the clock of rings. How many calls that may wait are seen from now on, until close(). */
static PyObject *core_see_waits(PyObject *module, PyObject *arg)
{
	uint64_t hz = PyLong_AsUnsignedLongLong(arg);

	return PyErr_Occurred() ? NULL : PyLong_FromLong(waits_start(hz, state_of(module)->codes.direct));
}

static int begin(struct state *state, const char *dir, const struct ring_config *c, PyObject *header, bool guest)
{
	struct text all = { 0 }, common = { 0 };
	int err;

	text_value(&all, header);
	if (!all.failed) /* without the braces */
		text_add(&common, all.bytes + 1, all.length - 2);
	err = all.failed ? -ENOMEM : table_start(dir, &common);
	err = err ? err : lanes_start(c, dir, guest ? deserted : NULL);
	err = err ? err : open_first(state);
	snapshot_listen(!err && c->flight);
	text_free(&all);
	text_free(&common);
	return err;
}

static PyObject *core_begin(PyObject *module, PyObject *args)
{
	struct ring_config c = { 0 };
	unsigned long long tsc_hz, duty[3];
	PyObject *dir, *header;
	int err, guest;

	if (!PyArg_ParseTuple(args, "O&(IIIKI(KKK)II)O!p", PyUnicode_FSConverter, &dir, &c.nrecords, &c.wait_ms,
			      &c.recorder_pid, &tsc_hz, &c.flight, &duty[0], &duty[1], &duty[2], &c.meet, &c.coarse,
			      &PyDict_Type, &header, &guest))
		return NULL;
	c.tsc_hz = tsc_hz;
	c.duty = (struct ring_duty){ duty[0], duty[1], duty[2] };
	err = begin(state_of(module), PyBytes_AS_STRING(dir), &c, header, guest);
	Py_DECREF(dir);
	return err ? setup_error(err) : Py_NewRef(Py_None);
}

static PyObject *core_callback(PyObject *module, PyObject *args)
{
	struct state *state = state_of(module);
	PyObject *disable;
	int op, shape;

	if (!PyArg_ParseTuple(args, "iiO", &op, &shape, &disable))
		return NULL;
	if (op < OP_EVENT_FIRST || op > OP_EVENT_LAST || shape < 0 || shape > EMIT_LAST)
		return setup_error(-EINVAL);
	state->codes.identified |= shape == EMIT_OBJECT;
	if (shape == EMIT_OBJECT)
		running_find();
	return emit_new(state->callback, &state->codes, op, shape, disable);
}

static PyObject *core_listen(PyObject *module, PyObject *args)
{
	int tool, events, err;
	bool begun;

	if (!PyArg_ParseTuple(args, "ii", &tool, &events))
		return NULL;
	begun = duty_begin(&state_of(module)->codes, tool, events, &err);
	state_of(module)->codes.listening = !err;
	return err ? NULL : PyBool_FromLong(begun);
}

static PyObject *core_fork_begins(PyObject *module, PyObject *unused)
{
	duty_python_forks(true);
	Py_RETURN_NONE;
}

static PyObject *core_fork_ends(PyObject *module, PyObject *unused)
{
	duty_python_forks(false);
	Py_RETURN_NONE;
}

static PyObject *core_unlisten(PyObject *module, PyObject *unused)
{
	greenlets_end(&state_of(module)->codes);
	state_of(module)->codes.listening = false;
	codes_write_compiled(&state_of(module)->codes);
	duty_end(&state_of(module)->codes);
	Py_RETURN_NONE;
}

static void write_stop(void)
{
	struct lane_total *totals;
	struct text t = { 0 };
	uint64_t lost;
	size_t n = lanes_stop(&totals, &lost);

	snapshot_listen(false);
	trigger_stop();
	text_printf(&t, "{\"kind\":\"stop\",\"markers\":[");
	for (size_t i = 0; i < n; i++) {
		text_comma(&t);
		text_printf(&t, "[%u,%llu]", totals[i].tid, (unsigned long long)totals[i].words);
	}
	text_printf(&t, "],\"lost\":%llu,\"at_ns\":%llu}", (unsigned long long)lost,
		    (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	table_write(&t);
	table_stop();
	text_free(&t);
	free(totals);
}

static PyObject *core_emit_frames(PyObject *module, PyObject *unused)
{
	struct state *state = state_of(module);

	frames_emit(&state->codes, true);
	state->counted = true;
	return frames_emit_at_end(&state->codes) ? NULL : Py_NewRef(Py_None);
}

static PyObject *core_close(PyObject *module, PyObject *unused)
{
	struct state *state = state_of(module);

	if (state->counted)
		frames_emit(&state->codes, false);
	state->counted = false;
	codes_end(&state->codes);
	codes_close(&state->codes);
	names_forget(&state->codes.imports);
	uvloop_stop(&state->codes);
	told_forget_all(&state->codes.tasks);
	told_forget_all(&state->codes.contexts);
	state->codes.identified = false;
	names_forget(&state->codes.names);
	labels_forget(&state->labels);
	locks_leave();
	if (process_leave()) {
		waits_stop();
		write_stop();
		codes_free();
		callees_free();
	}
	Py_RETURN_NONE;
}

static PyObject *core_note(PyObject *module, PyObject *line)
{
	struct text t = { 0 };

	text_value(&t, line);
	table_add(&t);
	text_free(&t);
	Py_RETURN_NONE;
}

static PyObject *core_finish(PyObject *module, PyObject *arg)
{
	PyThreadState *thread;
	PyObject *dir;
	int err;

	if (!PyUnicode_FSConverter(arg, &dir))
		return NULL;
	thread = PyEval_SaveThread();
	err = recorder_finish(PyBytes_AS_STRING(dir));
	PyEval_RestoreThread(thread);
	Py_DECREF(dir);
	return err ? setup_error(err) : Py_NewRef(Py_None);
}

/* unmatched(): what set_filter() and set_triggers() got and no code has matched. */
static PyObject *core_unmatched(PyObject *module, PyObject *unused)
{
	PyObject *list = PyList_New(0);

	(void)module, (void)unused;
	if (list && !setup_unmatched(list) && !triggers_unmatched(list))
		return list;
	Py_XDECREF(list);
	return NULL;
}

static PyObject *core_measure(PyObject *module, PyObject *args)
{
	struct state *state = state_of(module);
	PyObject *code, *function, *n, *result;
	uint64_t began, ended, markers;
	bool failed;

	if (!PyArg_ParseTuple(args, "O!OO", &PyCode_Type, &code, &function, &n) ||
	    codes_set(&state->codes, code, CODE_SCRATCH))
		return NULL;
	scratch_begin(state->codes.interpreter, state->codes.view);
	began = ticks_now();
	result = PyObject_CallOneArg(function, n);
	ended = ticks_now();
	markers = scratch_end();
	failed = codes_set(&state->codes, code, 0) || !result; /* as if not seen yet, in any case */
	Py_XDECREF(result);
	if (failed)
		return NULL;
	return Py_BuildValue("KK", (unsigned long long)(ended - began), (unsigned long long)markers);
}

static PyObject *core_collector(PyObject *module, PyObject *args)
{
	struct state *state = state_of(module);

	return collector_event(&state->codes, args);
}

static PyObject *core_heard(PyObject *module, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(labels_heard(&state_of(module)->labels));
}

static PyObject *core_instant(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
	return labels_instant(&state_of(module)->labels, args, n, names);
}

static PyObject *core_counter(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
	return labels_counter(&state_of(module)->labels, args, n);
}

/* _core.pyi has types for what Python reads of them. */
/* clang-format off */
static PyMethodDef methods[] = {
	{ "collector", core_collector, METH_VARARGS,
	  "collector($module, phase, info, /)\n--\n\n"
	  "For gc.callbacks: a collection is recorded as a call of a function of its own, garbage\n"
	  "collection. phase: 'start' or 'stop'; info: gc's dict, of which only 'generation' is used." },
	{ "heard", core_heard, METH_NOARGS,
	  "heard($module, /)\n--\n\n"
	  "Does anybody record what the program says?" },
	{ "instant", (PyCFunction)(void (*)(void))core_instant, METH_FASTCALL | METH_KEYWORDS,
	  "instant($module, name, /, **data)\n--\n\n"
	  "A moment of the program's own: a mark on the thread's track, with data as of a span." },
	{ "counter", (PyCFunction)(void (*)(void))core_counter, METH_FASTCALL,
	  "counter($module, name, value, /)\n--\n\n"
	  "A number of the program's own, from here on: a counter's track of the process, by its name." },
	{ "ask", core_ask, METH_O,
	  "ask($module, dir, /)\n--\n\n"
	  "The configuration of the recorder that listens in folder dir: (records a ring, ms that a full\n"
	  "ring waits, pid of the recorder, Hz of the TSC, 1 in flight mode, (start, window, period) of a\n"
	  "duty cycle in ns of CLOCK_MONOTONIC, 0 without one). OSError if none listens." },
	{ "processor", core_processor, METH_O,
	  "processor($module, pmu, /)\n--\n\n"
	  "What the processor can do: {'pt', 'ptwrite', 'kernel', 'kernel_ptwrite': bool, 'tsc_hz': int, 0\n"
	  "if not known}. pmu: the kernel's folder of intel_pt; '' is the usual one." },
	{ "where", core_where, METH_NOARGS,
	  "where($module, /)\n--\n\n"
	  "The folder that interpreters of this process trace into, or None." },
	{ "join", core_join, METH_NOARGS,
	  "join($module, /)\n--\n\n"
	  "This interpreter begins to trace. True if it is the first of its process: then choose(), the\n"
	  "set_ functions and begin() follow. Each join() needs a close()." },
	{ "see_waits", core_see_waits, METH_O,
	  "see_waits($module, hz, /)\n--\n\n"
	  "Notice what threads wait for, until close(); hz: of the clock of rings. How many calls are seen." },
	{ "choose", core_choose, METH_VARARGS,
	  "choose($module, backend, coarse, numbers, /)\n--\n\n"
	  "How words leave the process, a BACKEND_ number, and whether a thread may write a number instead\n"
	  "of a word that it repeats (by PTWRITE): for each callback() and begin() from now on.\n"
	  "OSError (EINVAL) if this processor has no such way." },
	{ "set_filter", setup_filter, METH_VARARGS,
	  "set_filter($module, include, exclude, own, /)\n--\n\n"
	  "Tuples of str: patterns of modules and files to trace, to leave out, and folders whose code is\n"
	  "never traced." },
	{ "unmatched", core_unmatched, METH_NOARGS,
	  "unmatched($module, /)\n--\n\n"
	  "What set_filter() and set_triggers() asked for and no code has matched: [(kind, pattern)], kind\n"
	  "'include', 'exclude' or 'trigger'." },
	{ "note", core_note, METH_O,
	  "note($module, line, /)\n--\n\n"
	  "Write a dict as a line of the code table, if this process has one. Call it before close()." },
	{ "set_opcodes", setup_opcodes, METH_VARARGS,
	  "set_opcodes($module, caches, jump, instrumented, extended_arg, line, instruction, call_function_ex,\n"
	  "            /)\n--\n\n"
	  "The interpreter's opcodes: three tables of 256 bytes by opcode (inline cache units; direction of\n"
	  "a relative jump: 1, 255 for back, or 0; whether sys.monitoring put it there), and four opcodes.\n"
	  "OSError (EINVAL) for tables of another size." },
	{ "set_flow", setup_flow, METH_VARARGS,
	  "set_flow($module, flow, for_skips, /)\n--\n\n"
	  "Mode opcodes: 256 bytes, what each base opcode does to the control flow (enum\n"
	  "ambiguous_flow), and how many instructions an exhausted FOR_ITER skips. OSError (EINVAL) for\n"
	  "another size." },
	{ "find_dispatch", dispatch_python, METH_O,
	  "find_dispatch($module, used, /)\n--\n\n"
	  "Where this interpreter's opcode handlers are: {'object', 'targets', 'unused', 'code', 'again'}\n"
	  "of docs/marker.md, addresses as int. used: 256 bytes, not 0 for each opcode that there is.\n"
	  "RuntimeError says why they are not found." },
	{ "begin", core_begin, METH_VARARGS,
	  "begin($module, dir, config, header, guest, /)\n--\n\n"
	  "Write header, a dict, into the code table in folder dir and give out rings. config is what ask()\n"
	  "gave; guest: stop when the recorder has gone, instead of counting what is lost. OSError." },
	{ "callback", core_callback, METH_VARARGS,
	  "callback($module, op, shape, disable, /)\n--\n\n"
	  "A callable for sys.monitoring.register_callback() that writes markers. op: of ops; shape: an\n"
	  "EMIT_ number, what else the marker has; disable: what it returns for code that is left out\n"
	  "(DISABLE or None). OSError (EINVAL)." },
	{ "identity", identity_of_caller, METH_NOARGS,
	  "identity($module, /)\n--\n\n"
	  "What callbacks of shape EMIT_OBJECT would record of the caller: id() // 16 of the generator,\n"
	  "coroutine or asynchronous generator that calls this; 0 if it is none." },
	{ "listen", core_listen, METH_VARARGS,
	  "listen($module, tool, events, /)\n--\n\n"
	  "True if the recorder wants a duty cycle, which then switches the events (bits of\n"
	  "sys.monitoring.events) of tool on and off until unlisten(); False if switching them on is the\n"
	  "caller's task. OSError." },
	{ "fork_begins", core_fork_begins, METH_NOARGS,
	  "fork_begins($module, /)\n--\n\n"
	  "For os.register_at_fork(), as fork_ends(): free-threaded Python with a duty cycle calls os.fork()." },
	{ "fork_ends", core_fork_ends, METH_NOARGS,
	  "fork_ends($module, /)\n--\n\n"
	  "In the parent, after the fork." },
	{ "unlisten", core_unlisten, METH_NOARGS,
	  "unlisten($module, /)\n--\n\n"
	  "The first step of stopping: what the JIT has compiled goes into the code table, and the duty\n"
	  "cycle ends, if there is one, with its events off." },
	{ "emit_frames", core_emit_frames, METH_NOARGS,
	  "emit_frames($module, /)\n--\n\n"
	  "Mode opcodes, an interpreter that is not the first: record where its frames begin. OSError." },
	{ "close", core_close, METH_NOARGS,
	  "close($module, /)\n--\n\n"
	  "The end of join(), when this interpreter's callbacks are gone. The last interpreter of the\n"
	  "process ends its rings." },
	{ "finish", core_finish, METH_O,
	  "finish($module, dir, /)\n--\n\n"
	  "End the recording in folder dir; its perf.data is complete when this returns. OSError without a\n"
	  "recorder." },
	SNAPSHOT_METHODS,
	{ "set_triggers", trigger_set, METH_VARARGS,
	  "set_triggers($module, triggers, tsc_hz, /)\n--\n\n"
	  "For the process: a list of (kind, module, qualname, ticks, names). The function's call takes a\n"
	  "snapshot, or one that lasts longer than so many ticks of the TSC, if not 0; names: arguments\n"
	  "that go into it." },
	{ "measure", core_measure, METH_VARARGS,
	  "measure($module, code, function, n, /)\n--\n\n"
	  "Run function(n) while code's markers go nowhere: (cycles of the TSC that it took, markers)." },
	{ NULL },
};
/* clang-format on */

static int add_numbers(PyObject *module)
{
	return PyModule_AddIntMacro(module, BACKEND_SOFTWARE) || PyModule_AddIntMacro(module, BACKEND_PTWRITE) ||
	       PyModule_AddIntMacro(module, BACKEND_EMULATED) || PyModule_AddIntMacro(module, EMIT_OFFSET) ||
	       PyModule_AddIntMacro(module, EMIT_LINE) || PyModule_AddIntMacro(module, EMIT_DEST) ||
	       PyModule_AddIntMacro(module, EMIT_BACKWARD) || PyModule_AddIntMacro(module, EMIT_UNSURE) ||
	       PyModule_AddIntMacro(module, EMIT_AMBIGUOUS) || PyModule_AddIntMacro(module, EMIT_CALL) ||
	       PyModule_AddIntMacro(module, EMIT_OBJECT) || PyModule_AddIntMacro(module, EMIT_C_CALL) ||
	       PyModule_AddIntMacro(module, EMIT_RAISE);
}

/* ops: {event name: marker op}; far: names of the events whose marker holds a destination. */
static int add_events(PyObject *module)
{
	static const struct {
		const char *name;
		int op, far;
	} rows[] = {
#define X(op, name, stack, far) { #name, op, far == FAR_DEST },
		OCULAR_EVENTS(X)
#undef X
	};
	PyObject *ops = PyDict_New(), *far = PyList_New(0);
	int err = !ops || !far;

	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(*rows); i++) {
		PyObject *name = PyUnicode_FromString(rows[i].name);
		PyObject *op = PyLong_FromLong(rows[i].op);

		err = !name || !op || PyDict_SetItem(ops, name, op) || (rows[i].far && PyList_Append(far, name));
		Py_XDECREF(name);
		Py_XDECREF(op);
	}
	err = err || PyModule_AddObjectRef(module, "ops", ops) || PyModule_AddObjectRef(module, "far", far);
	Py_XDECREF(ops);
	Py_XDECREF(far);
	return err;
}

static int core_exec(PyObject *module)
{
	struct state *state = state_of(module);

	state->codes.greenlets = &state->greenlets;
	if (names_open(&state->codes.imports, "import", 0) || names_open(&state->codes.names, "subject", 0) ||
	    tasks_open(&state->codes) || told_open(module, &state->codes.tasks) ||
	    told_open(module, &state->codes.contexts))
		return -1;
	state->callback = (PyTypeObject *)PyType_FromModuleAndSpec(module, &emit_spec, NULL);
	if (!state->callback || codes_open(&state->codes) || callee_open() || add_numbers(module) ||
	    add_events(module) || labels_open(module, &state->labels, &state->codes) ||
	    greenlets_open(module, &state->greenlets))
		return -1;
	return 0;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
	Py_VISIT(state_of(module)->callback);
	return names_traverse(&state_of(module)->codes.imports, visit, arg)
		       ?: names_traverse(&state_of(module)->codes.names, visit, arg)
		       ?: told_traverse(&state_of(module)->codes.tasks, visit, arg)
		       ?: told_traverse(&state_of(module)->codes.contexts, visit, arg)
		       ?: greenlets_traverse(&state_of(module)->greenlets, visit, arg)
		       ?: labels_traverse(&state_of(module)->labels, visit, arg);
}

static int core_clear(PyObject *module)
{
	Py_CLEAR(state_of(module)->callback);
	names_clear(&state_of(module)->codes.imports);
	told_clear(&state_of(module)->codes.tasks);
	told_clear(&state_of(module)->codes.contexts);
	names_clear(&state_of(module)->codes.names);
	tasks_close(&state_of(module)->codes);
	labels_clear(&state_of(module)->labels);
	greenlets_clear(&state_of(module)->greenlets);
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, core_exec },
	{ Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
#ifdef Py_mod_gil
	{ Py_mod_gil, Py_MOD_GIL_NOT_USED }, /* else a free-threaded Python would switch its GIL on */
#endif
	{ 0, NULL },
};

/* clang-format off */
static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "ocular._core",
	.m_size = sizeof(struct state),
	.m_methods = methods,
	.m_slots = slots,
	.m_traverse = core_traverse,
	.m_clear = core_clear,
};
/* clang-format on */

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
