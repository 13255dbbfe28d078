// SPDX-License-Identifier: MIT
/* The text of an object or array has no bracket at its end until something takes it. */
#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"
#include "text.h"

#define ROOM_LEAST  48	 /* of a number or a short text */
#define ROOM_OBJECT 1000 /* of most of them */

struct value {
	size_t used, room;
	char text[];
};

/* --- text ---------------------------------------------------------------------------------------------------- */

static struct value *make(size_t room)
{
	struct value *v = malloc(sizeof(*v) + room);

	if (v)
		*v = (struct value){ .room = room };
	return v;
}

void value_free(struct value *v)
{
	free(v);
}

static struct value *grow(struct value *v, size_t size)
{
	size_t room = 2 * v->room + size;
	struct value *bigger = realloc(v, sizeof(*v) + room);

	if (!bigger)
		value_free(v);
	else
		bigger->room = room;
	return bigger;
}

/* Room for `size` bytes more. */
static inline struct value *reserve(struct value *v, size_t size)
{
	return v && v->room - v->used < size ? grow(v, size) : v;
}

static inline char *end_of(struct value *v)
{
	return v->text + v->used;
}

static inline void end_at(struct value *v, const char *end)
{
	v->used = end - v->text;
}

static struct value *put_bytes(struct value *v, const char *bytes, size_t size)
{
	v = reserve(v, size);
	if (v)
		end_at(v, mempcpy(end_of(v), bytes, size));
	return v;
}

static struct value *put_integer(struct value *v, int64_t n)
{
	v = reserve(v, OUT_DIGITS);
	if (v)
		end_at(v, out_int(end_of(v), n));
	return v;
}

static struct value *put_word(struct value *v, const char *word)
{
	return put_bytes(v, word, strlen(word));
}

static struct value *put_bool(struct value *v, bool is)
{
	return put_word(v, is ? "true" : "false");
}

static struct value *put_text(struct value *v, const char *s)
{
	if (!s)
		return put_word(v, "null");
	v = reserve(v, strlen(s) * TEXT_ASCII + 2);
	if (v)
		end_at(v, text_ascii(end_of(v), s));
	return v;
}

static struct value *put_real(struct value *v, double n)
{
	if (!isfinite(n))
		return value_free(v), NULL;
	v = reserve(v, REAL_ROOM);
	if (v)
		end_at(v, real_put(end_of(v), n));
	return v;
}

/* The whole text, which may take one byte more than it has so far. Its end. */
static char *write_whole(char *to, const struct value *v)
{
	to = mempcpy(to, v->text, v->used);
	if (*v->text == '{' || *v->text == '[')
		*to++ = *v->text + 2; /* '}' and ']' of ASCII */
	return to;
}

static struct value *put_value(struct value *v, struct value *more)
{
	if (!more)
		return value_free(v), NULL;
	v = reserve(v, more->used + 1);
	if (v)
		end_at(v, write_whole(end_of(v), more));
	value_free(more);
	return v;
}

static struct value *put_comma(struct value *v)
{
	return v && v->used > 1 ? put_bytes(v, ", ", 2) : v;
}

/* The program's own, of which no character is special. */
static struct value *put_key(struct value *v, const char *key)
{
	size_t length = strlen(key);
	char *to;

	v = reserve(v, length + 6);
	if (!v)
		return NULL;
	to = v->used > 1 ? mempcpy(end_of(v), ", \"", 3) : mempcpy(end_of(v), "\"", 1);
	end_at(v, mempcpy(mempcpy(to, key, length), "\": ", 3));
	return v;
}

/* --- values -------------------------------------------------------------------------------------------------- */

struct value *value_object(void)
{
	return put_bytes(make(ROOM_OBJECT), "{", 1);
}

struct value *value_array(void)
{
	return put_bytes(make(ROOM_LEAST), "[", 1);
}

struct value *value_null(void)
{
	return put_word(make(ROOM_LEAST), "null");
}

struct value *value_bool(bool is)
{
	return put_bool(make(ROOM_LEAST), is);
}

struct value *value_integer(int64_t n)
{
	return put_integer(make(ROOM_LEAST), n);
}

struct value *value_real(double n)
{
	return put_real(make(ROOM_LEAST), n);
}

struct value *value_text(const char *s)
{
	return put_text(make(ROOM_LEAST), s);
}

struct value *value_json(const char *json)
{
	size_t n = strlen(json), open = *json == '{' || *json == '[';

	return put_bytes(make(n), json, n - open);
}

struct value *value_append(struct value *array, struct value *more)
{
	return put_value(put_comma(array), more);
}

struct value *value_set(struct value *object, const char *key, struct value *more)
{
	return put_value(put_bytes(put_text(put_comma(object), key), ": ", 2), more);
}

struct value *value_join(struct value *o, struct value *more)
{
	if (!more)
		return value_free(o), NULL;
	if (more->used > 1)
		o = put_bytes(put_comma(o), more->text + 1, more->used - 1);
	value_free(more);
	return o;
}

struct value *value_numbers(const struct value_number *rows, size_t n)
{
	struct value *o = value_object();

	for (size_t i = 0; i < n; i++)
		o = put_integer(put_key(o, rows[i].key), rows[i].value);
	return o;
}

int value_put(struct value *v, struct out *out)
{
	char *to = v ? out_reserve(out, v->used + 1) : NULL;
	int err = to ? 0 : -ENOMEM;

	if (!err)
		out_commit(out, write_whole(to, v));
	value_free(v);
	return err;
}

/* --- several at once ------------------------------------------------------------------------------------------ */

struct pack {
	const char *at; /* in the format */
	va_list args;
};

static struct value *put_members(struct value *o, struct pack *p);
static struct value *put_elements(struct value *array, struct pack *p);

/* What is between letters: no text of a format is so long that strspn() is faster. */
static void skip(struct pack *p)
{
	while (*p->at == ' ' || *p->at == ',' || *p->at == ':')
		p->at++;
}

/* The next letter or bracket; p moves past it. */
static char take(struct pack *p)
{
	skip(p);
	return *p->at++;
}

/* What the next letter stands for. */
static struct value *put_next(struct value *v, struct pack *p)
{
	switch (take(p)) {
	case '{':
		return put_value(v, put_members(value_object(), p));
	case '[':
		return put_value(v, put_elements(value_array(), p));
	case 'o':
		return put_value(v, va_arg(p->args, struct value *));
	case 's':
		return put_text(v, va_arg(p->args, const char *));
	case 'i':
		return put_integer(v, va_arg(p->args, int));
	case 'I':
		return put_integer(v, va_arg(p->args, int64_t));
	case 'f':
		return put_real(v, va_arg(p->args, double));
	case 'b':
		return put_bool(v, va_arg(p->args, int));
	default:
		return put_word(v, "null");
	}
}

/* o* */
static struct value *put_if_any(struct value *o, const char *key, struct value *more)
{
	return more ? put_value(put_key(o, key), more) : o;
}

static struct value *put_members(struct value *o, struct pack *p)
{
	while (take(p) == 's') {
		const char *key = va_arg(p->args, const char *);

		skip(p);
		if (strncmp(p->at, "o*", 2)) {
			o = put_next(put_key(o, key), p);
			continue;
		}
		o = put_if_any(o, key, va_arg(p->args, struct value *));
		p->at += 2;
	}
	return o;
}

static bool is_at_end(struct pack *p)
{
	skip(p);
	return *p->at == ']';
}

static struct value *put_elements(struct value *array, struct pack *p)
{
	while (!is_at_end(p))
		array = put_next(put_comma(array), p);
	p->at++;
	return array;
}

struct value *value_pack(const char *format, ...)
{
	struct pack p = { .at = format };
	struct value *v;

	va_start(p.args, format);
	v = take(&p) == '{' ? put_members(value_object(), &p) : put_elements(value_array(), &p);
	va_end(p.args);
	return v;
}
