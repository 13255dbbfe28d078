/* SPDX-License-Identifier: MIT */
/*
 * json_mutator.h - changes to JSON that leave it JSON: a value becomes another one, of this text or of a list; a member
 * goes away, or comes twice.
 */
#pragma once

#include "mutator.h"

/* Where the value that begins at p ends, or the key. */
static inline size_t json_end(const struct mutated *m, size_t p)
{
	unsigned depth = 0;

	do {
		char c = m->bytes[p++];

		if (c == '"') {
			while (p < m->size && m->bytes[p] != '"')
				p += m->bytes[p] == '\\' ? 2 : 1;
			p++;
		}
		depth += c == '[' || c == '{';
		depth -= depth && (c == ']' || c == '}');
	} while (p < m->size && (depth || !strchr(",]}:\n", m->bytes[p])));
	return p < m->size ? p : m->size;
}

/* Behind one of `marks`, from anywhere on; m->size: there is none. */
static inline size_t json_behind(struct mutated *m, const char *marks)
{
	size_t p = mutator_draw(m, m->size);

	while (p < m->size && (!m->bytes[p] || !strchr(marks, m->bytes[p])))
		p++;
	for (p++; p < m->size && m->bytes[p] == ' ';)
		p++;
	return p < m->size ? p : m->size;
}

static inline void json_change_value(struct mutated *m)
{
	static const char *const values[] = {
		"0",	 "1",	 "-1",	 "255",	     "65536",  "4294967295",	     "9223372036854775807",  "0.5",
		"1e308", "-0.0", "null", "true",     "\"\"",   "\"0x7f\"",	     "\"\\u0000\\u001b\"",   "\"a\"",
		"[]",	 "{}",	 "[1]",	 "[[1, 2]]", "1e-308", "\"\\ud83d\\ude00\"", "-9223372036854775808",
	};
	const char *value = values[mutator_draw(m, sizeof(values) / sizeof(values[0]))];
	size_t at = json_behind(m, ":[");

	if (at < m->size)
		mutator_replace(m, at, json_end(m, at), value, strlen(value));
}

/* A copy of a small one, in the place of another. */
static inline void json_copy_value(struct mutated *m)
{
	size_t from = json_behind(m, ":["), to = json_behind(m, ":["), n;
	uint8_t copy[1024];

	if (from == m->size || to == m->size)
		return;
	n = json_end(m, from) - from;
	if (n > sizeof(copy))
		return;
	memcpy(copy, m->bytes + from, n);
	mutator_replace(m, to, json_end(m, to), copy, n);
}

/* A member that is not the first, or an item. */
static inline void json_change_member(struct mutated *m)
{
	size_t at = json_behind(m, ","), end;
	uint8_t copy[1024];

	if (at == m->size)
		return;
	end = json_end(m, at);
	if (end < m->size && m->bytes[end] == ':')
		end = json_end(m, end + 1 < m->size ? end + 1 : end);
	if (m->bytes[end - 1] == '\n' || end == m->size || m->bytes[end] != ',' || end + 1 - at > sizeof(copy))
		return;
	memcpy(copy, m->bytes + at, end + 1 - at);
	if (mutator_draw(m, 2))
		mutator_replace(m, at, end + 1, "", 0);
	else
		mutator_replace(m, at, at, copy, end + 1 - at);
}

static inline void json_change(struct mutated *m)
{
	static void (*const ways[])(struct mutated * m) = { json_change_value, json_change_value, json_copy_value,
							    json_change_member };

	if (m->size)
		ways[mutator_draw(m, sizeof(ways) / sizeof(ways[0]))](m);
}
