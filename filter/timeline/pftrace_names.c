// SPDX-License-Identifier: MIT
/* Texts become UTF-8 once: Python's may hold surrogates. */
#include "pftrace_names.h"

#include <stdlib.h>
#include <string.h>

#include "perfetto.h"
#include "pftrace_fields.h"
#include "base/out.h"
#include "base/proto.h"
#include "source_link.h"
#include "base/text.h"

static struct pftrace_name *make_name(struct pftrace_names *names, const void *of, char *name, char *category,
				      bool has_category)
{
	struct pftrace_name *n = calloc(1, sizeof(*n));

	if (n && name && (category || !has_category)) {
		*n = (struct pftrace_name){ .number = names->first + names->map.used,
					    .name = name,
					    .category = category };
		if (!map_put(&names->map, (uintptr_t)of, n))
			return n;
	}
	free(n);
	free(name);
	free(category);
	return NULL;
}

char *pftrace_put_address(char *to, const struct code *code)
{
	char address[] = "0x0123456789abcdef", *body;

	if (!code->address)
		return to;
	body = proto_open(to, EVENT_ARG);
	to = proto_number(body, ARG_KEY, KEY_CODE_PTR);
	to = proto_string(to, ARG_STRING, address, out_hex(address + 2, code->address) - address);
	return proto_close(body, to);
}

static void make_slice(struct pftrace_name *n, const struct code *code)
{
	char *body = proto_open(n->slice, PACKET_TRACK_EVENT);
	char *to = proto_number(body, EVENT_TYPE, TYPE_BEGIN);

	to = proto_number(proto_number(to, EVENT_CATEGORY, n->number), EVENT_NAME, n->number);
	to = pftrace_put_address(to, code);
	if (n->file)
		to = proto_number(to, EVENT_SOURCE, n->number);
	n->slice_length = proto_close_short(body, to) - n->slice;
}

static bool has_source(const struct code *code)
{
	return code->known && !code->c && !code->label && strcmp(code->file, CODE_IMPORT_FILE);
}

const struct pftrace_name *pftrace_code_name(struct pftrace_names *names, const struct code *code)
{
	const struct pftrace_name *n = map_get(&names->map, (uintptr_t)code);
	char *place, *title, *category, *name;
	struct pftrace_name *made;

	if (n)
		return n;
	place = perfetto_place(code);
	title = perfetto_title(code);
	category = place ? text_utf8(place) : NULL;
	name = title ? text_utf8(title) : NULL;
	free(place);
	free(title);
	made = make_name(names, code, name, category, true);
	if (!made)
		return NULL;
	made->line = code->firstlineno;
	if (has_source(code) && !(made->file = source_link(names->source_url, code)))
		return NULL;
	make_slice(made, code);
	return made;
}

const struct pftrace_name *pftrace_loop_name(struct pftrace_names *names, const struct loop *loop,
					     const struct profile *p)
{
	struct pftrace_name *n = map_get(&names->map, (uintptr_t)loop);
	char *text, *name;

	if (n)
		return n;
	text = perfetto_loop(loop);
	name = text ? text_utf8(text) : NULL;
	free(text);
	n = make_name(names, loop, name, NULL, false);
	if (n)
		n->cycles = KEY_TRIP_CYCLES + perfetto_cycles_of(p, loop);
	return n;
}

void pftrace_names_free(struct pftrace_names *names)
{
	for (struct map_slot *s = NULL; (s = map_next(&names->map, s));) {
		struct pftrace_name *n = s->value;

		free(n->name);
		free(n->category);
		free(n->file);
		free(n);
	}
	map_free(&names->map);
}
