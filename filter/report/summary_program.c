// SPDX-License-Identifier: MIT
/* What else the program did: collections, imports, exceptions, and spans of its own. */
#include "summary_objects.h"

#include "base/value.h"
#include "summary_parts.h"

struct value *summary_collection(const struct profile *p, unsigned generation)
{
	const struct collection_total *c = &p->collections.of[generation];
	struct collections_own own[GENERATIONS];
	const struct value_number numbers[] = {
		{ "generation", generation },  { "count", c->n }, { "ns", c->ns }, { "longest_ns", c->longest_ns },
		{ "collected", c->collected },
	};
	struct value *self;

	profile_collections(p, own);
	self = value_pack("{s:I, s:I}", "self_ns", (int64_t)own[generation].ns, "self_cycles",
			  (int64_t)own[generation].cycles);
	return value_join(
		VALUE_NUMBERS(numbers),
		value_join(self, summary_cpu_times(!p->unseen, "self_", own[generation].ns, own[generation].off)));
}

struct value *summary_import(const struct import *i)
{
	uint64_t ns;
	const struct code *most = import_most(i, &ns);
	const struct value_number of_most[] = { { "line", most ? most->firstlineno : 0 }, { "ns", ns } };
	const struct value_number numbers[] = {
		{ "depth", i->depth },	     { "count", i->n },		{ "failed", i->failed },
		{ "total_ns", i->total_ns }, { "self_ns", i->self_ns },
	};
	struct value *place = most ? value_pack("{s:o, s:o}", "file", value_text(most->file), "qualname",
						value_text(most->qualname))
				   : value_null();

	place = most ? value_join(place, VALUE_NUMBERS(of_most)) : place;
	return value_join(value_pack("{s:o, s:o, s:o}", "name", value_text(i->name), "file",
				     value_text(i->module ? i->module->file : NULL), "most", place),
			  VALUE_NUMBERS(numbers));
}

static struct value *handler(const struct handler *h)
{
	const struct value_number numbers[] = { { "line", h ? h->line : 0 }, { "count", h ? h->n : 0 } };

	return h ? value_join(summary_place(h->code), VALUE_NUMBERS(numbers)) : value_null();
}

struct value *summary_exception(const struct raised *r)
{
	uint32_t handlers = 0;

	for (uint32_t i = 0; i < r->nhandlers; i++)
		handlers += r->handlers[i].n > 0;

	const struct value_number numbers[] = {
		{ "line", r->line },	   { "pid", r->code->process->pid },  { "count", r->n },
		{ "handled", r->handled }, { "dropped", r->dropped },	      { "left", r->left },
		{ "frames", r->frames },   { "most_frames", r->frames_most }, { "handlers", handlers },
	};

	return value_join(value_pack("{s:o}", "type", value_text(r->type ? r->type->qualname : NULL)),
			  value_join(summary_place(r->code),
				     value_join(VALUE_NUMBERS(numbers),
						value_pack("{s:o}", "handler", handler(raised_handler(r))))));
}

struct value *summary_span(const struct span_total *t)
{
	const struct value_number numbers[] = {
		{ "count", t->n },
		{ "total_ns", t->ns },
		{ "longest_ns", t->longest_ns },
		{ "unfinished", t->unfinished },
	};

	return value_join(value_pack("{s:o}", "name", value_text(t->name->qualname)), VALUE_NUMBERS(numbers));
}
