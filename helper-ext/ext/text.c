/* SPDX-License-Identifier: MIT */
/* text.c - see text.h. Never raises: a Python error on the way is cleared and the value is null. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"
#include "text.h"
#include "world.h"

#define NUMBER_ROOM sizeof("-9223372036854775808")

static char *text_room(struct text *t, size_t n)
{
	size_t room = t->room ? t->room : 1024;

	while (room < t->length + n)
		room *= 2;
	if (room != t->room) {
		if (!ARRAY_RESIZE(t->bytes, room)) {
			t->failed = 1;
			return NULL;
		}
		t->room = room;
	}
	return t->bytes + t->length;
}

void text_add(struct text *t, const char *bytes, size_t n)
{
	char *to = text_room(t, n);

	if (!to)
		return;
	memcpy(to, bytes, n);
	t->length += n;
}

void text_printf(struct text *t, const char *format, ...)
{
	char some[128];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(some, sizeof(some), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(some))
		t->failed = 1;
	else
		text_add(t, some, (size_t)n);
}

static char *put_number(char *to, long number)
{
	unsigned long rest = number < 0 ? -(unsigned long)number : (unsigned long)number;
	char digits[NUMBER_ROOM], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		*--at = '-';
	return mempcpy(to, at, digits + sizeof(digits) - at);
}

void text_numbers(struct text *t, const long *numbers, size_t n)
{
	char *to = text_room(t, 2 + n * (NUMBER_ROOM + 1));

	if (!to)
		return;
	for (size_t i = 0; i < n; i++) {
		*to++ = i ? ',' : '[';
		to = put_number(to, numbers[i]);
	}
	*to++ = ']';
	t->length = to - t->bytes;
}

void text_free(struct text *t)
{
	free(t->bytes);
	*t = (struct text){ 0 };
}

void text_comma(struct text *t)
{
	if (t->length && !strchr("[{:", t->bytes[t->length - 1]))
		text_add(t, ",", 1);
}

static bool is_escaped(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f || c == '"' || c == '\\';
}

static void text_escaped(struct text *t, const char *s, Py_ssize_t n)
{
	const char *plain = s, *end = s + n;

	text_add(t, "\"", 1);
	for (; s < end; s++) {
		if (!is_escaped(*s))
			continue;
		text_add(t, plain, s - plain);
		text_printf(t, *s == '"' || *s == '\\' ? "\\%c" : "\\u%04x", *s);
		plain = s + 1;
	}
	text_add(t, plain, end - plain);
	text_add(t, "\"", 1);
}

void text_str(struct text *t, PyObject *str)
{
	PyObject *utf8 = PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");

	if (utf8) {
		text_escaped(t, PyBytes_AS_STRING(utf8), PyBytes_GET_SIZE(utf8));
		Py_DECREF(utf8);
	} else {
		PyErr_Clear();
		text_add(t, "null", 4);
	}
}

static void text_int(struct text *t, PyObject *value)
{
	long long n = PyLong_AsLongLong(value);

	if (n == -1 && PyErr_Occurred()) {
		PyErr_Clear();
		text_add(t, "null", 4);
	} else {
		text_printf(t, "%lld", n);
	}
}

static void text_float(struct text *t, double x)
{
	char *digits = isfinite(x) ? PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, NULL) : NULL;

	if (digits)
		text_add(t, digits, strlen(digits));
	else
		text_add(t, "null", 4);
	PyMem_Free(digits);
}

static bool is_full(const struct text *t)
{
	return t->limit && t->length >= t->limit;
}

PyObject *text_cut(PyObject *str, int most)
{
	if (PyUnicode_GET_LENGTH(str) <= most)
		return Py_NewRef(str);
	return PyUnicode_FromFormat("%.*U%s", most, str, TEXT_CUT);
}

/* Takes `str`; NULL, with an exception: it could not be made. */
static void text_within(struct text *t, PyObject *str)
{
	if (str && t->limit)
		Py_SETREF(str, text_cut(str, TEXT_STR_MAX));
	if (str)
		text_str(t, str);
	else
		text_add(t, "\"?\"", 3);
	PyErr_Clear();
	Py_XDECREF(str);
}

bool text_key(struct text *t, PyObject *key)
{
	text_comma(t);
	if (is_full(t)) {
		text_printf(t, "\"%s\":null", TEXT_CUT);
		return false;
	}
	text_within(t, PyUnicode_Check(key) ? Py_NewRef(key) : PyObject_Repr(key));
	text_add(t, ":", 1);
	return true;
}

/*
 * The repr() of a key runs the user's code, which may change any container: those in use are held. While it runs, other
 * threads may, too: the container's critical section is left meanwhile.
 */
static void text_sequence(struct text *t, PyObject *fast)
{
	bool more = true;

	text_add(t, "[", 1);
	for (Py_ssize_t i = 0; more && i < PySequence_Fast_GET_SIZE(fast); i++) {
		PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(fast, i));

		text_comma(t);
		more = !is_full(t);
		if (more)
			text_value(t, item);
		else
			text_printf(t, "\"%s\"", TEXT_CUT);
		Py_DECREF(item);
	}
	text_add(t, "]", 1);
}

static void text_dict(struct text *t, PyObject *dict)
{
	PyObject *key, *value;
	Py_ssize_t i = 0;
	bool more = true;

	text_add(t, "{", 1);
	while (more && PyDict_Next(dict, &i, &key, &value)) {
		Py_INCREF(key);
		Py_INCREF(value);
		more = text_key(t, key);
		if (more)
			text_value(t, value);
		Py_DECREF(value);
		Py_DECREF(key);
	}
	text_add(t, "}", 1);
}

static void text_container(struct text *t, PyObject *container, void (*write)(struct text *, PyObject *))
{
	if (t->depth == TEXT_DEPTH_MAX) {
		text_add(t, "null", 4);
		return;
	}
	t->depth++;
	Py_BEGIN_CRITICAL_SECTION(container);
	write(t, container);
	Py_END_CRITICAL_SECTION();
	t->depth--;
}

void text_value(struct text *t, PyObject *value)
{
	if (PyUnicode_Check(value))
		text_within(t, Py_NewRef(value));
	else if (PyBool_Check(value))
		text_printf(t, "%s", value == Py_True ? "true" : "false");
	else if (PyLong_Check(value))
		text_int(t, value);
	else if (PyFloat_Check(value))
		text_float(t, PyFloat_AS_DOUBLE(value));
	else if (PyList_Check(value) || PyTuple_Check(value))
		text_container(t, value, text_sequence);
	else if (PyDict_Check(value))
		text_container(t, value, text_dict);
	else
		text_add(t, "null", 4);
}
