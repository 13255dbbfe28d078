/* SPDX-License-Identifier: MIT */
/*
 * core.c - the module ocular._core: what tracing needs C for.
 *
 * The package drives it (monitor.py): ask the recorder, begin, make callbacks and register them
 * with sys.monitoring; at the end take them away, then close. Everything with a name or a choice is
 * there; here is what runs for each event, each code object and each thread.
 */
#include <Python.h>
#include <errno.h>

#include "clock.h"
#include "codes.h"
#include "collector.h"
#include "dispatch_python.h"
#include "duty.h"
#include "emit.h"
#include "frames.h"
#include "lane.h"
#include "pending.h"
#include "process.h"
#include "processor.h"
#include "recorder.h"
#include "rings.h"
#include "scratch.h"
#include "setup.h"
#include "shared/ticks.h"
#include "snapshot.h"
#include "table.h"
#include "trigger.h"

struct state {
	struct codes codes;
	PyTypeObject *callback;
	struct collector collector;
	bool counted; /* its frames: tell_frames() */
};

static struct state *state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/*
 * ask(dir) -> (nrecords, wait_ms, recorder_pid, tsc_hz, flight, (start, window, period)), the latter of a
 * duty cycle, in ns; OSError without a recorder.
 */
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
	return Py_BuildValue("IIIKI(KKK)", c.nrecords, c.wait_ms, c.recorder_pid, (unsigned long long)c.tsc_hz,
			     c.flight, (unsigned long long)c.duty.start_ns, (unsigned long long)c.duty.window_ns,
			     (unsigned long long)c.duty.period_ns);
}

/* where() -> the folder that interpreters of this process trace into; None: they do not. */
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
	{ .child = table_forked },
	{ .before = duty_before_fork, .after = duty_after_fork, .child = duty_forked },
	{ 0 },
};

/* join() -> True if this interpreter is the first of the process to trace; then begin() follows. */
static PyObject *core_join(PyObject *module, PyObject *unused)
{
	struct codes *codes = &state_of(module)->codes;
	bool first;

	process_init(forks);
	first = process_join();
	codes->view = first && codes->direct == 0 ? LANE_FIRST : LANE_OTHERS;
	return PyBool_FromLong(first);
}

/* The first ring at once: a program that cannot be traced shall hear of it before it runs. */
static int open_first(struct state *state)
{
	errno = 0;
	if (lane_open(state->codes.interpreter, state->codes.view, LANE_ALWAYS, 0))
		return 0;
	return errno ? -errno : -EAGAIN;
}

/* processor(pmu) -> struct processor as a dict; pmu: the kernel's folder of it, "": the usual one. */
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

/* choose(backend): for callback() and begin() to come; only where join() said True. */
static PyObject *core_choose(PyObject *module, PyObject *arg)
{
	long backend = PyLong_AsLong(arg);

	if (backend < 0 || backend >= BACKENDS || (backend != BACKEND_SOFTWARE && !ARCH_TRACES))
		return PyErr_Occurred() ? NULL : setup_error(-EINVAL);
	lanes_choose((enum backend)backend);
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
 * The recorder has gone, and with it who attached to this program: it is to be as before. Not from within a
 * callback, but soon, by whichever thread: the main one may be asleep for good. If the queue is full, next time.
 */
static void deserted(void)
{
	_PyEval_AddPendingCall(PyInterpreterState_Get(), stop_tracing, NULL, 0);
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

/*
 * begin(dir, config, header, guest): write the header and hand out lanes. config is ask()'s answer, or
 * of that form where no recorder is needed. guest: stop when the recorder has gone.
 */
static PyObject *core_begin(PyObject *module, PyObject *args)
{
	struct ring_config c = { 0 };
	unsigned long long tsc_hz, duty[3];
	PyObject *dir, *header;
	int err, guest;

	if (!PyArg_ParseTuple(args, "O&(IIIKI(KKK))O!p", PyUnicode_FSConverter, &dir, &c.nrecords, &c.wait_ms,
			      &c.recorder_pid, &tsc_hz, &c.flight, &duty[0], &duty[1], &duty[2], &PyDict_Type, &header,
			      &guest))
		return NULL;
	c.tsc_hz = tsc_hz;
	c.duty = (struct ring_duty){ duty[0], duty[1], duty[2] };
	err = begin(state_of(module), PyBytes_AS_STRING(dir), &c, header, guest);
	Py_DECREF(dir);
	return err ? setup_error(err) : Py_NewRef(Py_None);
}

/* callback(op, shape, disable) -> a callable for sys.monitoring.register_callback(). */
static PyObject *core_callback(PyObject *module, PyObject *args)
{
	struct state *state = state_of(module);
	PyObject *disable;
	int op, shape;

	if (!PyArg_ParseTuple(args, "iiO", &op, &shape, &disable))
		return NULL;
	if (op < OP_EVENT_FIRST || op > OP_EVENT_LAST || shape < 0 || shape > EMIT_DOUBTFUL)
		return setup_error(-EINVAL);
	return emit_new(state->callback, &state->codes, op, shape, disable);
}

/*
 * listen(tool, events) -> True: the recorder wants a duty cycle, which switches the events on and off
 * until close(); False: that is the caller's.
 */
static PyObject *core_listen(PyObject *module, PyObject *args)
{
	int tool, events, err;
	bool begun;

	if (!PyArg_ParseTuple(args, "ii", &tool, &events))
		return NULL;
	begun = duty_begin(&state_of(module)->codes, tool, events, &err);
	return err ? NULL : PyBool_FromLong(begun);
}

/* unlisten(): the duty cycle, if there is one, ends, and the events are off. */
static PyObject *core_unlisten(PyObject *module, PyObject *unused)
{
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

/* tell_frames(): the events come on now; in mode opcodes, of an interpreter that is not the first. */
static PyObject *core_tell_frames(PyObject *module, PyObject *unused)
{
	struct state *state = state_of(module);

	frames_tell(&state->codes, true);
	state->counted = true;
	return frames_tell_end(&state->codes) ? NULL : Py_NewRef(Py_None);
}

/* close(): this interpreter's callbacks are gone. The last one of the process ends its rings. */
static PyObject *core_close(PyObject *module, PyObject *unused)
{
	struct state *state = state_of(module);

	if (state->counted)
		frames_tell(&state->codes, false);
	state->counted = false;
	codes_close(&state->codes);
	if (process_leave()) {
		write_stop();
		codes_free();
	}
	Py_RETURN_NONE;
}

/* finish(dir): end the recording; waits until perf.data is complete. */
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

/* measure(code, function, n) -> (cycles, markers) of function(n), code's markers going nowhere. */
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
	failed = codes_set(&state->codes, code, 0) || !result; /* nobody's again, come what may */
	Py_XDECREF(result);
	if (failed)
		return NULL;
	return Py_BuildValue("KK", (unsigned long long)(ended - began), (unsigned long long)markers);
}

static PyObject *core_collector(PyObject *module, PyObject *args)
{
	struct state *state = state_of(module);

	return collector_event(&state->collector, &state->codes, args);
}

static PyMethodDef methods[] = {
	{ "collector", core_collector, METH_VARARGS, NULL },
	{ "ask", core_ask, METH_O, NULL },
	{ "processor", core_processor, METH_O, NULL },
	{ "where", core_where, METH_NOARGS, NULL },
	{ "join", core_join, METH_NOARGS, NULL },
	{ "choose", core_choose, METH_O, NULL },
	{ "set_filter", setup_filter, METH_VARARGS, NULL },
	{ "set_opcodes", setup_opcodes, METH_VARARGS, NULL },
	{ "set_flow", setup_flow, METH_VARARGS, NULL },
	{ "find_dispatch", dispatch_python, METH_O, NULL },
	{ "begin", core_begin, METH_VARARGS, NULL },
	{ "callback", core_callback, METH_VARARGS, NULL },
	{ "listen", core_listen, METH_VARARGS, NULL },
	{ "unlisten", core_unlisten, METH_NOARGS, NULL },
	{ "tell_frames", core_tell_frames, METH_NOARGS, NULL },
	{ "close", core_close, METH_NOARGS, NULL },
	{ "finish", core_finish, METH_O, NULL },
	SNAPSHOT_METHODS,
	{ "set_triggers", trigger_set, METH_VARARGS, NULL },
	{ "measure", core_measure, METH_VARARGS, NULL },
	{ NULL },
};

static int add_numbers(PyObject *module)
{
	return PyModule_AddIntMacro(module, BACKEND_SOFTWARE) || PyModule_AddIntMacro(module, BACKEND_PTWRITE) ||
	       PyModule_AddIntMacro(module, BACKEND_EMULATED) || PyModule_AddIntMacro(module, EMIT_OFFSET) ||
	       PyModule_AddIntMacro(module, EMIT_LINE) || PyModule_AddIntMacro(module, EMIT_DEST) ||
	       PyModule_AddIntMacro(module, EMIT_BACKWARD) || PyModule_AddIntMacro(module, EMIT_UNSURE) ||
	       PyModule_AddIntMacro(module, EMIT_DOUBTFUL);
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

	state->callback = (PyTypeObject *)PyType_FromModuleAndSpec(module, &emit_spec, NULL);
	if (!state->callback || codes_open(&state->codes) || add_numbers(module) || add_events(module))
		return -1;
	return 0;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
	Py_VISIT(state_of(module)->callback);
	for (int i = 0; i < COLLECTOR_GENERATIONS; i++)
		Py_VISIT(state_of(module)->collector.codes[i]);
	return 0;
}

static int core_clear(PyObject *module)
{
	Py_CLEAR(state_of(module)->callback);
	for (int i = 0; i < COLLECTOR_GENERATIONS; i++)
		Py_CLEAR(state_of(module)->collector.codes[i]);
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, core_exec },
	{ Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
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
