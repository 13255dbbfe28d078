/* SPDX-License-Identifier: MIT */
/*
 * codes.c - see codes.h. `entries` leads from an id back to its live code object: needed for its last line when it
 * dies, because co_extra's free function gets only the value, and when tracing stops.
 */
#include <stdlib.h>

#include "adaptive.h"
#include "clock.h"
#include "codes.h"
#include "globals.h"
#include "greenlets.h"
#include "hooks.h"
#include "owner.h"
#include "process.h"
#include "setup.h"
#include "table.h"
#include "trigger.h"
#include "uvloop.h"
#include "waits.h"
#include "world.h"

#define CHUNK_BITS 12
#define CHUNK	   (1u << CHUNK_BITS)
#define LOOKUPS	   8
/* ns: less is the clock's. Reading a table takes several times as long. */
#define LOOKUP_LEAST 100

struct entry {
	PyCodeObject *code; /* NULL: dead */
	uint64_t interpreter;
	int traced;
	uint8_t *ambiguous;	 /* ambiguous.h; NULL: none */
	uint64_t triggers;	 /* trigger.h */
	const struct hook *hook; /* hooks.h; NULL: none */
};

/* Changed with the process lock. A code object that runs keeps its entry as it is: that may be read without. */
static struct entry *_Atomic entries[(MARKER_CODE_MAX + 1) / CHUNK];

static struct entry *entry_of(uint32_t id)
{
	struct entry *chunk = atomic_load_explicit(&entries[id >> CHUNK_BITS], memory_order_acquire);

	return chunk ? &chunk[id & (CHUNK - 1)] : NULL;
}

static int entry_set(uint32_t id, const struct entry *entry)
{
	struct entry *chunk;

	process_lock();
	chunk = entries[id >> CHUNK_BITS];
	if (!chunk)
		entries[id >> CHUNK_BITS] = chunk = calloc(CHUNK, sizeof(*chunk));
	if (chunk)
		chunk[id & (CHUNK - 1)] = *entry;
	process_unlock();
	return chunk ? 0 : -1;
}

/* With the process lock: what the entry was. It is dead from now on. */
static struct entry entry_take(struct entry *entry)
{
	struct entry was = *entry;

	free(entry->ambiguous);
	*entry = (struct entry){ 0 };
	return was;
}

static struct entry entry_clear(uint32_t id)
{
	struct entry *entry, was = { 0 };

	process_lock();
	entry = entry_of(id);
	if (entry)
		was = entry_take(entry);
	process_unlock();
	return was;
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

/*
 * CPython frees a code object; its bytecode is still there. May come with an exception pending. Its entry goes first: a
 * session that ends meanwhile need not know of it.
 */
static void code_dies(void *extra)
{
	uint32_t id = value_id((uint64_t)extra);
	struct entry entry;
	PyObject *pending;

	if (!id)
		return;
	entry = entry_clear(id);
	if (!entry.code || !entry.traced)
		return;
	pending = PyErr_GetRaisedException();
	write_opcodes("specialized", id, entry.code, "dealloc");
	write_executors(id, entry.code);
	PyErr_SetRaisedException(pending);
}

#ifdef Py_GIL_DISABLED
#define SPARE 8 /* slots for tools that come later, as far as CPython can have so many (pystate.h) */

/*
 * Room for our slot. PyUnstable_Code_SetExtra() of CPython 3.13 reallocates the array that other threads' callbacks are
 * reading (python/cpython#144981), so it is made here, large enough that other tools' slots are in it, too. What was
 * there before, another tool's, is never freed: somebody may be reading it.
 */
static int make_room(const struct codes *c, PyObject *code)
{
	struct code_extra *had = codes_extra(code), *e;
	Py_ssize_t size = Py_MIN(c->direct + 1 + SPARE, MAX_CO_EXTRA_USERS);

	if (had && had->size > c->direct)
		return 0;
	e = PyMem_Calloc(1, sizeof(*e) + (size_t)size * sizeof(*e->values));
	if (!e)
		return -1;
	e->size = size;
	for (Py_ssize_t i = 0; had && i < had->size; i++)
		e->values[i] = CODES_LOAD(had->values[i]);
	__atomic_store_n(&((PyCodeObject *)code)->co_extra, (void *)e, __ATOMIC_RELEASE);
	return 0;
}
#else
/* CPython reallocates with the GIL. Our slot has nothing in it yet. */
static int make_room(const struct codes *c, PyObject *code)
{
	struct code_extra *e = codes_extra(code);

	return e && e->size > c->direct ? 0 : PyUnstable_Code_SetExtra(code, c->index, NULL);
}
#endif

/* In the code object's critical section, which PyUnstable_Code_SetExtra() takes, too, since 3.14. */
static int set_value(struct codes *c, PyObject *code, uint64_t value)
{
	if (c->direct == PY_SSIZE_T_MAX)
		return PyUnstable_Code_SetExtra(code, c->index, (void *)value);
	if (make_room(c, code))
		return -1;
	__atomic_store_n(&codes_extra(code)->values[c->direct], value, __ATOMIC_RELEASE);
	return 0;
}

int codes_set(struct codes *c, PyObject *code, uint64_t value)
{
	int err;

	Py_BEGIN_CRITICAL_SECTION(code);
	err = set_value(c, code, value);
	Py_END_CRITICAL_SECTION();
	return err;
}

int codes_open(struct codes *c)
{
	PyCodeObject *probe = PyCode_NewEmpty("ocular", "probe", 1);

	if (!probe)
		return -1;
	c->interpreter = (uint64_t)PyInterpreterState_GetID(PyInterpreterState_Get());
	c->index = PyUnstable_Eval_RequestCodeExtraIndex(code_dies);
	if (c->index < 0 || PyUnstable_Code_SetExtra((PyObject *)probe, c->index, (void *)CODE_NO_ID)) {
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

#define ALIAS_MAX 256

/* The main module's name if it were imported: from its spec (python -m), else from its file. */
static const char *alias_of(PyObject *globals, char alias[ALIAS_MAX])
{
	static const char package[] = ".__main__", source[] = ".py";
	PyObject *spec = globals_get(globals, "__spec__");
	PyObject *name = spec && spec != Py_None ? PyObject_GetAttrString(spec, "name") : NULL;
	PyObject *from = name ? name : globals_get(globals, "__file__");
	const char *text = globals_text(from);
	const char *slash = !name && text ? strrchr(text, '/') : NULL, *end = name ? package : source;
	size_t length, more = strlen(end);

	snprintf(alias, ALIAS_MAX, "%s", slash ? slash + 1 : text ? text : "");
	length = strlen(alias);
	if (length > more && !strcmp(alias + length - more, end))
		alias[length - more] = '\0';
	Py_XDECREF(from);
	Py_XDECREF(spec);
	return alias;
}

/* As long as `name` and `alias` live. */
static struct module_names module_names(PyObject *globals, PyObject *name, char alias[ALIAS_MAX])
{
	struct module_names m = { .name = globals_text(name) };

	if (globals_is_main(m.name)) {
		m.main = "__main__";
		m.alias = alias_of(globals, alias);
	}
	PyErr_Clear();
	return m;
}

static bool is_wanted(PyCodeObject *code, const struct module_names *module)
{
	PyObject *file = setup_bytes(code->co_filename);
	bool wanted = setup_wants(file ? PyBytes_AS_STRING(file) : "", module);

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

/* How long CPython takes to find the line of an offset: the least of a few times. */
static uint64_t lookup_ns(PyCodeObject *code, int offset)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < LOOKUPS; i++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC), ns;

		PyCode_Addr2Line(code, offset);
		ns = clock_ns(CLOCK_MONOTONIC) - begin;
		least = ns < least ? ns : least;
	}
	return least;
}

/*
 * In code of more than some 127 lines CPython 3.12, and 3.13 at first, read the line table from its beginning for each
 * LINE event (python/cpython#107674). Later ones have what is looked up here at hand.
 */
static void describe_lookup(PyCodeObject *code, long last_line, struct text *t)
{
	int last = 2 * ((int)Py_SIZE(code) - 1);
	uint64_t none, all;

	if (last_line - code->co_firstlineno <= INT8_MAX)
		return;
	none = lookup_ns(code, 0);
	all = lookup_ns(code, last);
	if (all > none + LOOKUP_LEAST)
		text_printf(t, ",\"line_lookup_ns\":%llu", (unsigned long long)(all - none));
}

static void describe_owner(PyCodeObject *code, PyObject *globals, struct text *t)
{
	PyObject *owner = globals && owner_is_wanted(code->co_filename) ? owner_find(globals) : NULL;

	if (!owner)
		return;
	text_printf(t, ",\"owner\":");
	text_str(t, owner);
	Py_DECREF(owner);
}

/* The table's line, all but its beginning, which has the id. Returns the largest line number. */
static long describe(PyCodeObject *code, PyObject *globals, bool excluded, struct text *t)
{
	long last_line;

	text_printf(t, ",\"file\":");
	text_str(t, code->co_filename);
	describe_owner(code, globals, t);
	text_printf(t, ",\"qualname\":");
	text_str(t, code->co_qualname);
	if (!follows_from_qualname(code)) {
		text_printf(t, ",\"name\":");
		text_str(t, code->co_name);
	}
	if (excluded)
		text_printf(t, ",\"excluded\":true");
	if (code->co_flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE))
		text_printf(t, ",\"coroutine\":true");
	text_printf(t, ",\"firstlineno\":%d,\"address\":\"%p\"", code->co_firstlineno, (void *)code);
	text_printf(t, ",\"units\":%zd,\"instructions\":", Py_SIZE(code));
	last_line = bytecode_instructions(&setup.ops, code, t);
	describe_lookup(code, last_line, t);
	text_add(t, "}", 1);
	return last_line;
}

/* A code object that has no id yet: what finding out about it calls Python for. */
struct sight {
	struct entry entry;
	struct text line; /* describe()'s; empty: it is left out */
	bool large;	  /* needs WIDE words */
	uint32_t id;	  /* once it has one */
};

static void write_code(uint32_t id, const struct text *rest)
{
	struct text t = { 0 };

	text_printf(&t, "{\"kind\":\"code\",\"id\":%u", id);
	text_add(&t, rest->bytes, rest->length);
	t.failed |= rest->failed;
	table_write(&t);
	text_free(&t);
}

static uint64_t value_of(uint32_t id, const struct sight *s)
{
	uint64_t hook = s->entry.hook ? CODE_HOOK : 0;

	if (s->entry.triggers)
		return id | CODE_TRIGGER | hook;
	if (!s->line.length)
		return id | CODE_FILTERED | hook;
	if (hook)
		return id | hook;
	return s->large ? id : (uint64_t)id << MARKER_CODE_SHIFT;
}

static uint64_t stored(const struct codes *c, PyObject *code)
{
	void *extra = NULL;

	if (c->direct != PY_SSIZE_T_MAX)
		return codes_peek(code, c->direct);
	if (PyUnstable_Code_GetExtra(code, c->index, &extra))
		PyErr_Clear();
	return (uint64_t)extra;
}

/*
 * An id for the code object, unless another thread was first, or tracing has ended. Nothing in here lets other threads
 * run, with a GIL, or enter, without: the code object's critical section is held, and nothing waits for Python. Taking
 * the section once more would: that gives it to others first (3.13).
 */
static uint64_t publish(struct codes *c, struct sight *s, uint32_t session)
{
	PyObject *code = (PyObject *)s->entry.code;
	uint64_t value = stored(c, code);
	uint32_t id;

	if (value || c->session != session)
		return value;
	id = table_next_id();
	if (!id || set_value(c, code, 0) || entry_set(id, &s->entry)) {
		PyErr_Clear();
		return CODE_NO_ID;
	}
	s->entry.ambiguous = NULL; /* the entry has it now */
	if (s->line.length)
		write_code(id, &s->line);
	value = value_of(id, s);
	if (set_value(c, code, value)) {
		PyErr_Clear();
		entry_clear(id);
		return CODE_NO_ID;
	}
	s->id = id;
	return value;
}

/* globals: NULL: Ocular's own. */
static uint64_t add(struct codes *c, PyCodeObject *code, PyObject *globals, uint64_t triggers, bool wanted,
		    uint32_t session)
{
	struct sight s = { .entry = { code, c->interpreter, wanted, NULL, triggers, NULL } };
	uint64_t value;

	/* Recovery of opcodes must see what is called and left, even if excluded (docs/opcodes.md). */
	if (wanted || setup.flow.wanted)
		s.large = describe(code, globals, !wanted, &s.line) > (long)MARKER_OFFSET_MAX ||
			  Py_SIZE(code) > (Py_ssize_t)MARKER_OFFSET_MAX;
	s.entry.hook = setup.flow.wanted ? NULL : hooks_find(c, code);
	if (setup.flow.wanted)
		s.entry.ambiguous = ambiguous_find(&setup.ops, &setup.flow, code);
	Py_BEGIN_CRITICAL_SECTION(code);
	value = publish(c, &s, session);
	Py_END_CRITICAL_SECTION();
	if (s.id && wanted)
		write_opcodes("before", s.id, code, "seen");
	free(s.entry.ambiguous);
	text_free(&s.line);
	return value;
}

/* Its module comes from the globals. */
static uint64_t first_sight(struct codes *c, PyCodeObject *code, PyObject *globals, uint32_t session)
{
	PyObject *name = globals ? globals_get(globals, "__name__") : NULL;
	char alias[ALIAS_MAX];
	struct module_names module = module_names(globals, name, alias);
	uint64_t triggers = triggers_of(&module, code);
	bool wanted = is_wanted(code, &module);

	Py_XDECREF(name);
	waits_look();
	if (!setup.flow.wanted)
		greenlets_look(c);
	if (c->identified)
		uvloop_look(c);
	return add(c, code, globals, triggers, triggers || wanted, session);
}

uint64_t codes_triggers(uint64_t value)
{
	return entry_of(value_id(value))->triggers;
}

static void set_hook(uint32_t id, const struct hook *hook)
{
	struct entry *entry;

	process_lock();
	entry = entry_of(id);
	if (entry)
		entry->hook = hook;
	process_unlock();
}

void codes_follow(struct codes *c, PyObject *code, const struct hook *hook)
{
	uint64_t value;

	Py_BEGIN_CRITICAL_SECTION(code);
	value = stored(c, code);
	if (value && !(value < CODE_READY && value & (CODE_HOOK | CODE_NO_ID)) && c->direct != PY_SSIZE_T_MAX) {
		set_hook(value_id(value), hook);
		set_value(c, code, (value < CODE_READY ? value : value_id(value)) | CODE_HOOK);
	}
	Py_END_CRITICAL_SECTION();
}

const struct hook *codes_hook(uint64_t value)
{
	return entry_of(value_id(value))->hook;
}

uint64_t codes_value(struct codes *c, PyObject *code, uint32_t session)
{
	uint64_t value = stored(c, code);

	return value ? value : first_sight(c, (PyCodeObject *)code, PyEval_GetGlobals(), session);
}

uint64_t codes_value_in(struct codes *c, PyObject *code, PyObject *globals, uint32_t session)
{
	uint64_t value = stored(c, code);

	return value ? value : first_sight(c, (PyCodeObject *)code, globals, session);
}

uint64_t codes_value_ours(struct codes *c, PyObject *code, uint32_t session)
{
	uint64_t value = stored(c, code);

	return value ? value : add(c, (PyCodeObject *)code, NULL, 0, true, session);
}

bool codes_is_ambiguous(uint64_t value, uint32_t unit)
{
	struct entry *entry = entry_of(value_id(value));

	return !entry || ambiguous_at(entry->ambiguous, unit); /* calibration's code has none */
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

void codes_begin(struct codes *c)
{
	c->window = LANE_ALWAYS;
}

static void end_session(void *codes)
{
	struct codes *c = codes;

	c->session++;
	c->window = LANE_SHUT;
}

void codes_end(struct codes *c)
{
	world_stop(end_session, c);
}

/* The value goes, but what is in the slot is not freed, as the API would. */
static void empty_slot(const struct codes *c, PyCodeObject *code)
{
	struct code_extra *e = codes_extra((PyObject *)code);

	if (e && e->size > c->direct)
		__atomic_store_n(&e->values[c->direct], 0, __ATOMIC_RELEASE);
}

/* A chunk's code objects that a session saw and that are alive, with a reference to each: so none dies meanwhile. */
struct held {
	struct codes *codes;
	uint32_t first;	       /* id */
	struct entry *entries; /* [CHUNK]; NULL: no memory, none is held */
};

/*
 * While the world is stopped: a code object that lost its last reference is between there and code_dies(), which then
 * finds nothing to do.
 */
static void hold(void *held)
{
	struct held *h = held;
	struct entry *chunk, was;

	process_lock();
	chunk = entries[h->first >> CHUNK_BITS];
	for (uint32_t i = 0; chunk && i < CHUNK; i++) {
		if (!chunk[i].code || chunk[i].interpreter != h->codes->interpreter)
			continue;
		empty_slot(h->codes, chunk[i].code);
		was = entry_take(&chunk[i]);
		if (h->entries && Py_REFCNT(was.code) > 0) {
			Py_INCREF(was.code);
			h->entries[i] = was;
		}
	}
	process_unlock();
}

static void forget(struct codes *c, uint32_t id, const struct entry *entry)
{
	PyObject *code = (PyObject *)entry->code;

	if (entry->traced)
		write_opcodes("specialized", id, entry->code, "stop");
	if (c->direct == PY_SSIZE_T_MAX && codes_set(c, code, 0))
		PyErr_Clear();
	Py_DECREF(code);
}

static void forget_held(const struct held *h)
{
	for (uint32_t i = 0; i < CHUNK; i++) {
		struct entry entry = h->entries[i];

		h->entries[i] = (struct entry){ 0 };
		if (entry.code)
			forget(h->codes, h->first + i, &entry);
	}
}

/* Without memory nothing is held: the last lines of its code objects are missing. */
void codes_close(struct codes *c)
{
	struct held h = { .codes = c, .entries = calloc(CHUNK, sizeof(*h.entries)) };

	for (; h.first <= MARKER_CODE_MAX; h.first += CHUNK) {
		if (!entries[h.first >> CHUNK_BITS])
			continue;
		world_stop(hold, &h);
		if (h.entries)
			forget_held(&h);
	}
	free(h.entries);
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
