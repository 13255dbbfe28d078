// SPDX-License-Identifier: MIT
/*
 * ocular_empty - sys.monitoring callbacks that do nothing, in the cheapest form CPython has: a
 * vectorcall. What a tool costs beyond callback() is the tool's own. stamp() reads the time-stamp
 * counter and keeps it: what any tool pays that knows when its events happened. record() appends the
 * time and a constant word to memory, without asking for room, code or place: the least that anything
 * with a time can cost on this machine. place() does it with the place of the event, after a look for
 * room: all that a marker does but to say of which code it is. reference() is a loop that always does
 * the same: how fast the machine is at this moment.
 */
#include <Python.h>
#include <structmember.h>
#include <x86intrin.h>

struct empty {
	PyObject_HEAD
	vectorcallfunc call;
};

static PyObject *do_nothing(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
	(void)self, (void)args, (void)nargs, (void)names;
	Py_RETURN_NONE;
}

static volatile unsigned long long stamped;

static PyObject *do_stamp(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
	(void)self, (void)args, (void)nargs, (void)names;
	stamped = __rdtsc();
	Py_RETURN_NONE;
}

/* As many as the extension's own measurement uses: they stay in the first-level cache. */
#define RECORDS 256
static struct {
	unsigned long long tsc, word;
} records[RECORDS];
static unsigned long recorded;

static PyObject *do_record(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
	unsigned long long now = __rdtsc();

	(void)args, (void)nargs, (void)names;
	records[recorded % RECORDS].tsc = now;
	records[recorded % RECORDS].word = (unsigned long long)(size_t)self;
	__atomic_store_n(&recorded, recorded + 1, __ATOMIC_RELEASE);
	Py_RETURN_NONE;
}

static volatile unsigned long limit = -1ul;

static PyObject *do_place(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
	unsigned long at = recorded;
	unsigned long long word = ((PyLongObject *)args[1])->long_value.ob_digit[0] | (size_t)self << 32, now;
	PyObject *none = Py_None;

	(void)nargs, (void)names;
	if (__builtin_expect(at == limit, 0))
		return PyErr_NoMemory();
	__asm__ volatile("" : "+r"(word), "+r"(none), "+r"(at)); /* loads, RDTSC, stores: as the extension has them */
	now = __rdtsc();
	records[at % RECORDS].tsc = now;
	records[at % RECORDS].word = word;
	__atomic_store_n(&recorded, at + 1, __ATOMIC_RELEASE);
	return none;
}

static PyMemberDef members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(struct empty, call), READONLY, NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_members, members },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "ocular_empty.callback",
	.basicsize = sizeof(struct empty),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.slots = slots,
};

static PyObject *make(PyObject *module, vectorcallfunc call)
{
	PyObject *type = PyObject_GetAttrString(module, "_type");
	struct empty *e = type ? PyObject_New(struct empty, (PyTypeObject *)type) : NULL;

	Py_XDECREF(type);
	if (e)
		e->call = call;
	return (PyObject *)e;
}

static PyObject *callback(PyObject *module, PyObject *unused)
{
	(void)unused;
	return make(module, do_nothing);
}

static PyObject *stamp(PyObject *module, PyObject *unused)
{
	(void)unused;
	return make(module, do_stamp);
}

static PyObject *record(PyObject *module, PyObject *unused)
{
	(void)unused;
	return make(module, do_record);
}

static PyObject *place(PyObject *module, PyObject *unused)
{
	(void)unused;
	return make(module, do_place);
}

/*
 * About a microsecond that fills the processor's execution units, so that it tells too when another thread
 * has the same core. What only waits for itself would not.
 */
#define TURNS 1500

static PyObject *reference(PyObject *module, PyObject *unused)
{
	unsigned long long began = __rdtsc();

	(void)module, (void)unused;
	for (int i = 0; i < TURNS; i++)
		__asm__ volatile("lea 1(%%rax), %%rax\n\tlea 1(%%rcx), %%rcx\n\t"
				 "lea 1(%%rdx), %%rdx\n\tlea 1(%%rsi), %%rsi"
				 : : : "rax", "rcx", "rdx", "rsi");
	return PyLong_FromUnsignedLongLong(__rdtsc() - began);
}

static PyObject *call(PyObject *module, PyObject *args)
{
	PyObject *function, *n, *result;
	unsigned long long began, ended;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO", &function, &n))
		return NULL;
	began = __rdtsc();
	result = PyObject_CallOneArg(function, n);
	ended = __rdtsc();
	Py_XDECREF(result);
	return result ? PyLong_FromUnsignedLongLong(ended - began) : NULL;
}

/* Called as ocular.take_snapshot() is. */
static PyObject *function(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
	(void)module;
	(void)args;
	(void)nargs;
	(void)names;
	Py_RETURN_FALSE;
}

static PyMethodDef methods[] = {
	{ "reference", reference, METH_NOARGS, "Ticks that a loop takes which is always the same." },
	{ "call", call, METH_VARARGS, "call(function, n): ticks that function(n) takes." },
	{ "function", (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, "Nothing." },
	{ "callback", callback, METH_NOARGS, "A new callback that does nothing." },
	{ "stamp", stamp, METH_NOARGS, "A new callback that reads the time-stamp counter." },
	{ "record", record, METH_NOARGS, "A new callback that stores the time and a word." },
	{ "place", place, METH_NOARGS, "A new callback that stores the time and the place, if there is room." },
	{ 0 },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "ocular_empty",
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit_ocular_empty(void)
{
	PyObject *m = PyModule_Create(&module);

	if (m && PyModule_AddObject(m, "_type", PyType_FromSpec(&spec)))
		Py_CLEAR(m);
	return m;
}
