/* SPDX-License-Identifier: MIT */
/*
 * codes.c - see codes.h. `entries` leads from an id back to its live code object: needed for its last line when it
 * dies, because co_extra's free function gets only the value, and when tracing stops.
 */
#include <stdlib.h>

#include "adaptive.h"
#include "codes.h"
#include "process.h"
#include "setup.h"
#include "table.h"
#include "trigger.h"

#define CHUNK_BITS 12
#define CHUNK	   (1u << CHUNK_BITS)

struct entry {
	PyCodeObject *code; /* NULL: dead */
	uint64_t interpreter;
	int traced;
	uint8_t *ambiguous; /* ambiguous.h; NULL: none */
	uint64_t triggers;  /* trigger.h */
};

static struct entry *entries[(MARKER_CODE_MAX + 1) / CHUNK];

static struct entry *entry_of(uint32_t id)
{
	struct entry *chunk = entries[id >> CHUNK_BITS];

	return chunk ? &chunk[id & (CHUNK - 1)] : NULL;
}

static int entry_set(uint32_t id, struct entry entry)
{
	struct entry **chunk = &entries[id >> CHUNK_BITS];

	process_lock();
	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (*chunk)
		(*chunk)[id & (CHUNK - 1)] = entry;
	process_unlock();
	return *chunk ? 0 : -1;
}

static void entry_clear(struct entry *entry)
{
	entry->code = NULL;
	free(entry->ambiguous);
	entry->ambiguous = NULL;
}

static uint32_t value_id(uint64_t value)
{
	if (value == CODE_SCRATCH)
		return 0;
	return (value >= CODE_READY ? value >> MARKER_CODE_SHIFT : value) & MARKER_CODE_MAX;
}

/* Only where something is specialised, unless threads have copies: then an empty line says that a copy stayed base. */
static void write_opcodes(const char *kind, uint32_t id, PyCodeObject *code, const char *reason)
{
	bool copies = adaptive_own_copy() >= 0;

	for (Py_ssize_t copy = 0; copy < adaptive_copies(code); copy++) {
		struct text t = { 0 };

		text_printf(&t, "{\"kind\":\"%s\",\"id\":%u,\"reason\":\"%s\"", kind, id, reason);
		if (copies)
			text_printf(&t, ",\"copy\":%zd", copy);
		text_printf(&t, ",\"opcodes\":");
		if (bytecode_specialized(&setup.ops, code, copy, &t) >= (copies ? 0 : 1)) {
			text_add(&t, "}", 1);
			table_write(&t);
		}
		text_free(&t);
	}
}

static void write_executors(uint32_t id, PyCodeObject *code)
{
	struct adaptive_executor e;
	struct text t = { 0 };

	for (Py_ssize_t i = 0; adaptive_executor(code, i, &e); i++) {
		if (!e.entry)
			continue;
		text_printf(&t, "{\"kind\":\"executor\",\"id\":%u,\"offset\":%zd,\"entry\":\"0x%llx\"}", id, 2 * e.unit,
			    (unsigned long long)e.entry);
		table_write(&t);
		text_free(&t);
	}
}

/* CPython frees a code object; its bytecode is still there. May come with an exception pending. */
static void code_dies(void *extra)
{
	uint32_t id = value_id((uint64_t)extra);
	struct entry *entry = entry_of(id);
	PyObject *pending;

	if (!id || !entry || !entry->code)
		return;
	if (entry->traced) {
		pending = PyErr_GetRaisedException();
		write_opcodes("specialized", id, entry->code, "dealloc");
		write_executors(id, entry->code);
		PyErr_SetRaisedException(pending);
	}
	entry_clear(entry);
}

int codes_set(struct codes *c, PyObject *code, uint64_t value)
{
	return PyUnstable_Code_SetExtra(code, c->index, (void *)value);
}

int codes_open(struct codes *c)
{
	PyCodeObject *probe = PyCode_NewEmpty("ocular", "probe", 1);

	if (!probe)
		return -1;
	c->interpreter = (uint64_t)PyInterpreterState_GetID(PyInterpreterState_Get());
	c->index = PyUnstable_Eval_RequestCodeExtraIndex(code_dies);
	if (c->index < 0 || codes_set(c, (PyObject *)probe, CODE_NO_ID)) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_RuntimeError, "no co_extra slot is left");
		Py_DECREF(probe);
		return -1;
	}
	c->direct = c->index;
	if (codes_peek((PyObject *)probe, c->direct) != CODE_NO_ID)
		c->direct = PY_SSIZE_T_MAX;
	Py_DECREF(probe);
	return 0;
}

static const char *text_of(PyObject *object)
{
	return object && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
}

#define ALIAS_MAX 256

/* The main module's name if it were imported: from its spec (python -m), else from its file. */
static const char *alias_of(PyObject *globals, char alias[ALIAS_MAX])
{
	static const char package[] = ".__main__", source[] = ".py";
	PyObject *spec = PyDict_GetItemString(globals, "__spec__");
	PyObject *name = spec && spec != Py_None ? PyObject_GetAttrString(spec, "name") : NULL;
	const char *text = text_of(name ? name : PyDict_GetItemString(globals, "__file__"));
	const char *slash = !name && text ? strrchr(text, '/') : NULL, *end = name ? package : source;
	size_t length, more = strlen(end);

	snprintf(alias, ALIAS_MAX, "%s", slash ? slash + 1 : text ? text : "");
	length = strlen(alias);
	if (length > more && !strcmp(alias + length - more, end))
		alias[length - more] = '\0';
	Py_XDECREF(name);
	return alias;
}

/*
 * The module comes from the globals of the frame that runs the code now. multiprocessing calls the main module of its
 * children __mp_main__.
 */
static struct module_names module_names(char alias[ALIAS_MAX])
{
	PyObject *globals = PyEval_GetGlobals();
	struct module_names m = { .name = globals ? text_of(PyDict_GetItemString(globals, "__name__")) : NULL };

	if (m.name && (!strcmp(m.name, "__main__") || !strcmp(m.name, "__mp_main__"))) {
		m.main = "__main__";
		m.alias = alias_of(globals, alias);
	}
	PyErr_Clear();
	return m;
}

static bool is_wanted(PyCodeObject *code, const struct module_names *module)
{
	PyObject *file = setup_bytes(code->co_filename);
	bool wanted = filter_wants(&setup.filter, file ? PyBytes_AS_STRING(file) : "", module);

	Py_XDECREF(file);
	PyErr_Clear();
	return wanted;
}

/* Is co_name what follows the last dot of co_qualname? The compiler makes it so. */
static bool follows_from_qualname(const PyCodeObject *code)
{
	const char *name = PyUnicode_AsUTF8(code->co_name);
	const char *qualname = PyUnicode_AsUTF8(code->co_qualname);
	const char *dot = qualname ? strrchr(qualname, '.') : NULL;

	PyErr_Clear();
	return name && qualname && !strcmp(name, dot ? dot + 1 : qualname);
}

static long write_code(uint32_t id, PyCodeObject *code, bool excluded)
{
	struct text t = { 0 };
	long last_line;

	text_printf(&t, "{\"kind\":\"code\",\"id\":%u,\"file\":", id);
	text_str(&t, code->co_filename);
	text_printf(&t, ",\"qualname\":");
	text_str(&t, code->co_qualname);
	if (!follows_from_qualname(code)) {
		text_printf(&t, ",\"name\":");
		text_str(&t, code->co_name);
	}
	if (excluded)
		text_printf(&t, ",\"excluded\":true");
	text_printf(&t, ",\"firstlineno\":%d,\"address\":\"%p\"", code->co_firstlineno, (void *)code);
	text_printf(&t, ",\"units\":%zd,\"instructions\":", Py_SIZE(code));
	last_line = bytecode_instructions(&setup.ops, code, &t);
	text_add(&t, "}", 1);
	table_write(&t);
	text_free(&t);
	return last_line;
}

static uint64_t introduce(uint32_t id, PyCodeObject *code, bool excluded)
{
	long last_line = write_code(id, code, excluded);

	if (!excluded)
		write_opcodes("before", id, code, "seen");
	if (setup.flow.wanted)
		entry_of(id)->ambiguous = ambiguous_find(&setup.ops, &setup.flow, code);
	if (last_line > (long)MARKER_OFFSET_MAX || Py_SIZE(code) > (Py_ssize_t)MARKER_OFFSET_MAX)
		return id;
	return (uint64_t)id << MARKER_CODE_SHIFT;
}

static uint64_t add(struct codes *c, PyCodeObject *code, uint64_t triggers, bool wanted)
{
	uint32_t id = table_next_id();
	uint64_t value;

	if (!id ||
	    entry_set(id,
		      (struct entry){
			      .code = code, .interpreter = c->interpreter, .traced = wanted, .triggers = triggers }))
		return CODE_NO_ID;
	/* Recovery of opcodes must see what is called and left, even if excluded (docs/opcodes.md). */
	value = wanted || setup.flow.wanted ? introduce(id, code, !wanted) : id | CODE_FILTERED;
	if (triggers)
		value = id | CODE_TRIGGER;
	if (codes_set(c, (PyObject *)code, value)) {
		PyErr_Clear();
		entry_clear(entry_of(id));
		return CODE_NO_ID;
	}
	return value;
}

static uint64_t first_sight(struct codes *c, PyCodeObject *code)
{
	char alias[ALIAS_MAX];
	struct module_names module = module_names(alias);
	uint64_t triggers = triggers_of(&module, code);
	bool wanted = is_wanted(code, &module);

	return add(c, code, triggers, triggers || wanted);
}

uint64_t codes_triggers(uint64_t value)
{
	return entry_of(value_id(value))->triggers;
}

static uint64_t stored(const struct codes *c, PyObject *code)
{
	void *extra = NULL;

	if (PyUnstable_Code_GetExtra(code, c->index, &extra))
		PyErr_Clear();
	return (uint64_t)extra;
}

uint64_t codes_value(struct codes *c, PyObject *code)
{
	uint64_t value = stored(c, code);

	return value ? value : first_sight(c, (PyCodeObject *)code);
}

uint64_t codes_value_ours(struct codes *c, PyObject *code)
{
	uint64_t value = stored(c, code);

	return value ? value : add(c, (PyCodeObject *)code, 0, true);
}

bool codes_is_ambiguous(uint64_t value, uint32_t unit)
{
	struct entry *entry = entry_of(value_id(value));

	return !entry || ambiguous_at(entry->ambiguous, unit); /* calibration's code has none */
}

static void forget(struct codes *c, uint32_t id, struct entry *entry)
{
	PyCodeObject *code = entry->code;

	if (!code || entry->interpreter != c->interpreter)
		return;
	if (entry->traced)
		write_opcodes("specialized", id, code, "stop");
	entry_clear(entry); /* first: setting the slot frees the value in it */
	if (codes_set(c, (PyObject *)code, 0))
		PyErr_Clear();
}

/* By sys._jit, since 3.14: no Python code runs for it. */
static bool jit_is_on(void)
{
	PyObject *jit = PySys_GetObject("_jit");
	PyObject *on = jit ? PyObject_CallMethod(jit, "is_enabled", NULL) : NULL;
	bool is_on = on == Py_True;

	Py_XDECREF(on);
	PyErr_Clear();
	return is_on;
}

void codes_write_compiled(const struct codes *c)
{
	struct text t = { 0 };

	if (!jit_is_on())
		return;
	text_printf(&t, "{\"kind\":\"jit\"}");
	table_write(&t);
	text_free(&t);
	for (uint32_t id = 0; id <= MARKER_CODE_MAX; id++) {
		const struct entry *entry = entries[id >> CHUNK_BITS] ? entry_of(id) : NULL;

		if (!entry)
			id |= CHUNK - 1;
		else if (entry->code && entry->traced && entry->interpreter == c->interpreter)
			write_executors(id, entry->code);
	}
}

void codes_close(struct codes *c)
{
	for (uint32_t id = 0; id <= MARKER_CODE_MAX; id += CHUNK)
		for (uint32_t i = 0; entries[id >> CHUNK_BITS] && i < CHUNK; i++)
			forget(c, id + i, entry_of(id + i));
}

void codes_free(void)
{
	process_lock();
	for (uint32_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		free(entries[i]);
		entries[i] = NULL;
	}
	process_unlock();
}
