// SPDX-License-Identifier: MIT
#include "opening.h"

#include <string.h>

#include "code/origin.h"

static bool is_module(const struct codes *codes, const struct code *code)
{
	return !strcmp(code->qualname, "<module>") && origin_of(codes, code) == ORIGIN_OWN;
}

void opening_look(struct opening *o, const struct codes *codes, const struct activation *a)
{
	if (!is_module(codes, a->code))
		return;
	*o = (struct opening){ .module = a->code, .pid = a->pid, .depth = a->depth, .open = true };
	o->imported_ns = a->start_ns;
}

/* What the module itself called. */
static void left_call(struct opening *o, const struct codes *codes, const struct activation *a, uint64_t end_ns)
{
	if (origin_of(codes, a->code) == ORIGIN_IMPORTS) {
		o->imported_ns = end_ns;
	} else if (end_ns - a->start_ns > o->until_ns - o->from_ns) {
		o->from_ns = a->start_ns;
		o->until_ns = end_ns;
	}
}

void opening_left(struct opening *o, const struct codes *codes, const struct activation *a, uint64_t end_ns)
{
	if (a->depth == o->depth + 1) {
		left_call(o, codes, a, end_ns);
	} else if (a->depth == o->depth && a->code == o->module) {
		o->end_ns = end_ns;
		o->open = false;
	}
}

bool opening_span(const struct opening *o, uint64_t *from_ns, uint64_t *until_ns)
{
	bool is_main = 2 * (o->until_ns - o->from_ns) >= o->end_ns - o->imported_ns;

	*from_ns = is_main ? o->from_ns : o->imported_ns;
	*until_ns = is_main ? o->until_ns : o->end_ns;
	return o->module && !o->open && *from_ns < *until_ns;
}
