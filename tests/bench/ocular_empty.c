// SPDX-License-Identifier: MIT
/*
 * ocular_empty - sys.monitoring callbacks that do nothing, in the cheapest form CPython has: a
 * vectorcall. What a tool costs beyond callback() is the tool's own. stamp() reads the time-stamp
 * counter and keeps it: what any tool pays that knows when its events happened. record() appends the
 * time and a constant word to memory, without asking for room, code or place: the least that anything
 * with a time can cost on this machine. least() is the least that says what a marker says: time, event, code by its
 * id and place; it looks whether the code has an id (two questions: has it an array, is an id in it), and for nothing
 * else. reference() is a loop that always does the same: how fast the machine is at this moment.
 */
#include <Python.h>
#include <structmember.h>
#include <x86intrin.h>

struct empty {
	PyObject_HEAD vectorcallfunc call;
	unsigned long long head; /* of least()'s words */
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

/* CPython's private storage behind co_extra, as in helper-ext/ext/codes.h. */
struct extra {
	Py_ssize_t size;
	unsigned long long values[];
};

#define READY (1ull << 28)

static __attribute__((noinline, cold)) PyObject *first_seen(PyObject *code)
{
	static Py_ssize_t slot = -1;

	if (slot < 0)
		slot = PyUnstable_Eval_RequestCodeExtraIndex(NULL);
	return PyUnstable_Code_SetExtra(code, slot, (void *)READY) ? NULL : Py_None;
}

/* Twice the memory: the address that goes up begins again by one instruction. */
static struct {
	_Alignas(2 * sizeof(records)) unsigned int low[2 * RECORDS][4];
} least_records;
static char *least_next = (char *)&least_records;

/* What is listed has been computed here: loads, RDTSC, stores, as the extension has them (arch/x86_64/emit.c). */
#define PIN(...) __asm__ volatile("" : __VA_ARGS__)

static PyObject *do_least(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
	const struct extra *e = ((PyCodeObject *)args[0])->co_extra;
	unsigned int(*at)[4] = (unsigned int(*)[4])least_next, low, high;
	unsigned long long word;
	PyObject *none = Py_None;

	(void)nargs, (void)names;
	if (__builtin_expect(!e || e->values[0] < READY, 0))
		return first_seen(args[0]);
	word = e->values[0] | ((struct empty *)self)->head |
	       (unsigned long long)((PyLongObject *)args[1])->long_value.ob_digit[0] << 7;
	PIN("+r"(word), "+r"(none), "+r"(at));
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	(*at)[1] = high;
	(*at)[0] = low;
	*(unsigned long long *)&(*at)[2] = word;
	__atomic_store_n(&least_next, (char *)((size_t)(at + 1) & ~sizeof(records)), __ATOMIC_RELEASE);
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
	if (e) {
		e->call = call;
		e->head = 1ull << 59;
	}
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

static PyObject *least(PyObject *module, PyObject *unused)
{
	(void)unused;
	return make(module, do_least);
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
				 :
				 :
				 : "rax", "rcx", "rdx", "rsi");
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
	{ "least", least, METH_NOARGS, "A new callback that stores time, event, code and place." },
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
#ifdef Py_GIL_DISABLED
	if (m)
		PyUnstable_Module_SetGIL(m, Py_MOD_GIL_NOT_USED); /* else the import switches the GIL on */
#endif
	return m;
}
