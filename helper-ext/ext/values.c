/* SPDX-License-Identifier: MIT */
/* values.c - see values.h. */
#include "values.h"

#include <endian.h>
#include <string.h>

#include "text.h"
#include "world.h"

#define WORDS_OF_NUMBER 2u /* at most; a text's id takes one */
/* Characters before TEXT_CUT, of 1 byte and of up to 4: VALUES_TEXT_MAX at most. */
#define CUT_ASCII 97
#define CUT_WIDE  24

static void put(struct values *v, enum value_what what, uint64_t value)
{
	v->words[v->n++] = marker_value(what, value);
}

static void put_int(struct values *v, int64_t value)
{
	int64_t shown = (int64_t)((uint64_t)value << MARKER_VALUE_REST) >> MARKER_VALUE_REST;

	if (shown != value)
		put(v, VALUE_REST, (uint64_t)value >> MARKER_VALUE_SHIFT);
	put(v, VALUE_INT, (uint64_t)value);
}

static void put_float(struct values *v, double value)
{
	uint64_t bits, rest;

	memcpy(&bits, &value, sizeof(bits));
	rest = bits & ((1u << MARKER_VALUE_REST) - 1);
	if (rest)
		put(v, VALUE_REST, rest);
	put(v, VALUE_FLOAT, bits >> MARKER_VALUE_REST);
}

/* A subclass's own code is not asked. */
static void put_long(struct values *v, PyObject *value)
{
	int overflow;
	int64_t number;

	if (PyUnstable_Long_IsCompact((PyLongObject *)value)) {
		put_int(v, PyUnstable_Long_CompactValue((PyLongObject *)value));
		return;
	}
	number = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (overflow)
		put(v, VALUE_CONSTANT, CONSTANT_NONE);
	else
		put_int(v, number);
}

static unsigned int text_words(Py_ssize_t n)
{
	return n ? (unsigned int)(n + MARKER_TEXT_BYTES - 1) / MARKER_TEXT_BYTES : 1;
}

/* The first one lowest, whatever the processor's order is. */
static uint64_t packed(const unsigned char *bytes, size_t n)
{
	uint64_t word = 0;

	while (n--)
		word = word << 8 | bytes[n];
	return word;
}

/* All of a word, at once. */
static uint64_t five(const unsigned char *bytes)
{
	uint32_t four;

	memcpy(&four, bytes, sizeof(four));
	return le32toh(four) | (uint64_t)bytes[4] << 32;
}

static void put_text(struct values *v, const unsigned char *bytes, size_t n)
{
	for (; n > MARKER_TEXT_BYTES; n -= MARKER_TEXT_BYTES, bytes += MARKER_TEXT_BYTES)
		put(v, VALUE_TEXT,
		    MARKER_TEXT_CONTINUES | (uint64_t)MARKER_TEXT_BYTES << MARKER_TEXT_COUNT_SHIFT | five(bytes));
	put(v, VALUE_TEXT, (uint64_t)n << MARKER_TEXT_COUNT_SHIFT | packed(bytes, n));
}

/* If that leaves room for `left` others. Not if UTF-8 cannot hold it. */
static bool put_short(struct values *v, PyObject *text, unsigned int left)
{
	Py_ssize_t n = PyUnicode_GET_LENGTH(text);
	const char *bytes = NULL;

	if (n > VALUES_TEXT_MAX)
		return false;
	if (PyUnicode_IS_COMPACT_ASCII(text))
		bytes = PyUnicode_DATA(text);
	else if (!(bytes = PyUnicode_AsUTF8AndSize(text, &n)))
		PyErr_Clear();
	if (!bytes || n > VALUES_TEXT_MAX || v->n + text_words(n) + left * WORDS_OF_NUMBER >= MARKER_VALUES_MAX)
		return false;
	put_text(v, (const unsigned char *)bytes, (size_t)n);
	return true;
}

/* Without a code of its own: its hash is asked for. NULL: there is no memory. */
static PyObject *plain(PyObject *text, int most)
{
	PyObject *exact = PyUnicode_FromObject(text), *cut = exact ? text_cut(exact, most) : NULL;

	Py_XDECREF(exact);
	PyErr_Clear();
	return cut;
}

/* Of one for which there is no id its beginning. */
static void put_long_text(struct values *v, struct value_ids *ids, PyObject *text, unsigned int left, uint32_t session)
{
	PyObject *told = plain(text, TEXT_STR_MAX);
	uint32_t id = told ? names_id(&ids->texts, told, session) : 0;

	Py_XDECREF(told);
	if (id) {
		put(v, VALUE_NAMED, id);
		return;
	}
	told = plain(text, PyUnicode_IS_ASCII(text) ? CUT_ASCII : CUT_WIDE);
	if (!told || !put_short(v, told, left))
		put(v, VALUE_CONSTANT, CONSTANT_UNTOLD);
	Py_XDECREF(told);
}

/* What takes the values of one label. */
struct taker {
	struct values *v;
	struct value_ids *ids;
	uint32_t session;
	unsigned int depth; /* of containers */
};

static bool take(struct taker *t, PyObject *value, unsigned int left);

/* That there are so many of them, if there is room for them and `left` others. */
static bool put_count(struct values *v, enum value_what what, Py_ssize_t n, Py_ssize_t values, unsigned int left)
{
	if (values > MARKER_VALUES_MAX || v->n + 1 + (values + left) * WORDS_OF_NUMBER >= MARKER_VALUES_MAX)
		return false;
	put(v, what, (uint64_t)n);
	return true;
}

/*
 * To tell a long text gives way to other threads, which may change the container: what is in use is held, and if it has
 * not as many as were told, all of the data is told as a whole.
 */
static bool take_sequence(struct taker *t, PyObject *list, unsigned int left)
{
	Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
	bool taken = put_count(t->v, VALUE_LIST, n, n, left);

	for (Py_ssize_t i = 0; taken && i < n; i++) {
		PyObject *item = i < PySequence_Fast_GET_SIZE(list) ? Py_NewRef(PySequence_Fast_GET_ITEM(list, i))
								    : NULL;

		taken = item && take(t, item, left + (unsigned int)(n - 1 - i));
		Py_XDECREF(item);
	}
	return taken;
}

/* One that the program's own text has is there again each time; of others there may be any number. */
static bool take_key(struct taker *t, PyObject *key, unsigned int left)
{
	uint32_t id = PyUnicode_CHECK_INTERNED(key) ? names_id(&t->ids->texts, key, t->session) : 0;

	if (!id)
		return take(t, key, left);
	put(t->v, VALUE_NAMED, id);
	return true;
}

static bool take_pair(struct taker *t, PyObject *key, PyObject *value, unsigned int left)
{
	bool taken;

	if (!PyUnicode_Check(key))
		return false;
	Py_INCREF(key);
	Py_INCREF(value);
	taken = take_key(t, key, left + 1) && take(t, value, left);
	Py_DECREF(value);
	Py_DECREF(key);
	return taken;
}

static bool take_dict(struct taker *t, PyObject *dict, unsigned int left)
{
	Py_ssize_t n = PyDict_GET_SIZE(dict), at = 0, rest = n;
	bool taken = put_count(t->v, VALUE_MAP, n, 2 * n, left);
	PyObject *key, *value;

	while (taken && PyDict_Next(dict, &at, &key, &value))
		taken = rest && take_pair(t, key, value, left + 2 * (unsigned int)--rest);
	return taken && !rest;
}

/* One may contain itself. */
static bool take_container(struct taker *t, PyObject *container, unsigned int left,
			   bool (*each)(struct taker *, PyObject *, unsigned int))
{
	bool taken;

	if (t->depth == TEXT_DEPTH_MAX) {
		put(t->v, VALUE_CONSTANT, CONSTANT_NONE);
		return true;
	}
	t->depth++;
	Py_BEGIN_CRITICAL_SECTION(container);
	taken = each(t, container, left);
	Py_END_CRITICAL_SECTION();
	t->depth--;
	return taken;
}

/* So that there is room for `left` others. */
static bool take(struct taker *t, PyObject *value, unsigned int left)
{
	struct values *v = t->v;

	if (PyUnicode_Check(value)) {
		if (!put_short(v, value, left))
			put_long_text(v, t->ids, value, left, t->session);
	} else if (PyBool_Check(value)) {
		put(v, VALUE_CONSTANT, value == Py_True ? CONSTANT_TRUE : CONSTANT_FALSE);
	} else if (PyLong_Check(value)) {
		put_long(v, value);
	} else if (PyFloat_CheckExact(value)) {
		put_float(v, PyFloat_AS_DOUBLE(value));
	} else if (PyList_Check(value) || PyTuple_Check(value)) {
		return take_container(t, value, left, take_sequence);
	} else if (PyDict_Check(value)) {
		return take_container(t, value, left, take_dict);
	} else if (PyFloat_Check(value)) { /* asks all of its bases */
		put_float(v, PyFloat_AS_DOUBLE(value));
	} else {
		put(v, VALUE_CONSTANT, CONSTANT_NONE);
	}
	return true;
}

bool values_take(struct values *v, struct value_ids *ids, PyObject *keys, PyObject *const *values, uint32_t session)
{
	struct taker t = { v, ids, session, .depth = 1 }; /* the keys and values are an object */
	unsigned int n = (unsigned int)PyTuple_GET_SIZE(keys);
	uint32_t id;

	v->n = 0;
	if (n * WORDS_OF_NUMBER >= MARKER_VALUES_MAX)
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (!take(&t, values[i], n - 1 - i))
			return false;
	id = names_id(&ids->keys, keys, session);
	if (!id)
		return false;
	v->words[v->n] = marker_keys(v->n, id);
	v->n++;
	return true;
}
