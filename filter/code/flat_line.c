// SPDX-License-Identifier: MIT
/* A part of JSON: nothing is accepted that jansson would refuse. */
#include "flat_line.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "number.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0: one of the eight bytes is; the lowest bit is the highest one of the first of them. */
static inline uint64_t zeros(uint64_t bytes)
{
	return (bytes - EACH(0x01)) & ~bytes & EACH(0x80);
}

/* How many of the next eight bytes are ASCII characters that stand for themselves, up to the first that is none. */
static inline unsigned plain_bytes(const char *s)
{
	uint64_t bytes, others;

	memcpy(&bytes, s, sizeof(bytes));
	bytes = le64toh(bytes);
	others = ((bytes | (bytes - EACH(0x20))) & EACH(0x80)) | zeros(bytes ^ EACH('"')) | zeros(bytes ^ EACH('\\'));
	return others ? (unsigned)__builtin_ctzll(others) / 8 : sizeof(bytes);
}

/* Up to the quotation mark that ends the text from s on. NULL: none, or what needs more than a copy. */
static const char *end_of_text(const char *s, const char *end)
{
	size_t n = sizeof(uint64_t);

	while (n == sizeof(uint64_t) && end - s >= (ptrdiff_t)sizeof(uint64_t))
		s += n = plain_bytes(s);
	while (s < end && *s != '"') {
		n = (uint8_t)*s < 0x80 ? 1 : text_sequence(s);

		if (!n || (uint8_t)*s < 0x20 || *s == '\\')
			return NULL;
		s += n;
	}
	return s < end ? s : NULL;
}

static const char *read_text(struct flat_member *m, const char *s, const char *end)
{
	const char *last = end_of_text(s + 1, end);

	m->type = FLAT_TEXT;
	m->text = s + 1;
	m->text_length = last ? last - s - 1 : 0;
	return last ? last + 1 : NULL;
}

static const char *read_word(struct flat_member *m, const char *s, const char *end)
{
	static const struct {
		const char *word;
		enum flat_type type;
	} words[] = { { "true", FLAT_TRUE }, { "false", FLAT_OTHER }, { "null", FLAT_OTHER } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].word);

		m->type = words[i].type;
		if ((size_t)(end - s) >= length && !memcmp(s, words[i].word, length))
			return s + length;
	}
	return NULL;
}

static const char *read_value(struct flat_member *m, const char *s, const char *end)
{
	int32_t number = 0;
	const char *behind;

	if (s < end && *s == '"')
		return read_text(m, s, end);
	m->type = FLAT_NUMBER;
	behind = number_read(s, &number);
	m->number = number;
	return behind ?: read_word(m, s, end);
}

static const char *read_member(struct flat_member *m, const char *s, const char *end)
{
	const char *last = s < end && *s == '"' ? end_of_text(s + 1, end) : NULL;

	if (!last || end - last < 2 || last[1] != ':')
		return NULL;
	m->key = s + 1;
	m->key_length = last - s - 1;
	return read_value(m, last + 2, end);
}

static inline unsigned slot_of(const char *key, size_t length)
{
	return ((uint8_t)*key + 4 * length) % FLAT_SLOTS;
}

void flat_line_begin(struct flat_line *l)
{
	l->object = NULL;
	l->n = 0;
	memset(l->last, 0, sizeof(l->last));
}

static const char *add_member(struct flat_line *l, const char *s, const char *end)
{
	struct flat_member *m = &l->all[l->n++];

	s = read_member(m, s, end);
	if (s)
		l->last[slot_of(m->key, m->key_length)] = l->n;
	return s;
}

/* `end` is in the line, whose last byte is a newline: a number ends before it, or makes this fail. */
bool flat_line_add(struct flat_line *l, const char *text, size_t length)
{
	const char *s = text, *end = text + length;

	while (l->n < FLAT_MOST && (s = add_member(l, s, end)) && s < end)
		if (*s++ != ',')
			return false;
	return s == end;
}

/* The last one: of those with keys of one hash, most often the last. */
static const struct flat_member *find(const struct flat_line *l, const char *key)
{
	size_t length = strlen(key);

	for (unsigned i = l->last[slot_of(key, length)]; i--;)
		if (l->all[i].key_length == length && !memcmp(l->all[i].key, key, length))
			return &l->all[i];
	return NULL;
}

bool flat_line_has(const struct flat_line *l, const char *key)
{
	return l->object ? json_object_get(l->object, key) != NULL : find(l, key) != NULL;
}

int64_t flat_line_number(const struct flat_line *l, const char *key, int64_t otherwise)
{
	const json_t *v = l->object ? json_object_get(l->object, key) : NULL;
	const struct flat_member *m = find(l, key);

	if (l->object)
		return json_is_integer(v) ? json_integer_value(v) : otherwise;
	return m && m->type == FLAT_NUMBER ? m->number : otherwise;
}

bool flat_line_is_true(const struct flat_line *l, const char *key)
{
	const struct flat_member *m = find(l, key);

	return l->object ? json_is_true(json_object_get(l->object, key)) : m && m->type == FLAT_TRUE;
}

const char *flat_line_text(const struct flat_line *l, const char *key, size_t *length)
{
	const struct flat_member *m = find(l, key);
	const char *text = l->object		       ? json_string_value(json_object_get(l->object, key))
			   : m && m->type == FLAT_TEXT ? m->text
						       : NULL;

	if (text)
		*length = l->object ? strlen(text) : m->text_length;
	return text;
}

bool flat_line_is(const struct flat_line *l, const char *key, const char *text)
{
	size_t length;
	const char *is = flat_line_text(l, key, &length);

	return is && length == strlen(text) && !memcmp(is, text, length);
}

uint64_t flat_line_address(const struct flat_line *l, const char *key)
{
	size_t length;
	const char *text = flat_line_text(l, key, &length);

	return text ? strtoull(text, NULL, 16) : 0;
}
