// SPDX-License-Identifier: MIT
/* What else the program did: collections, imports, exceptions, and spans of its own. */
#include "summary_objects.h"

#include "base/json.h"
#include "summary_parts.h"

json_t *summary_collection(const struct profile *p, unsigned generation)
{
	const struct collection_total *c = &p->collections.of[generation];
	struct collections_own own[GENERATIONS];
	const struct json_number numbers[] = {
		{ "generation", generation },  { "count", c->n }, { "ns", c->ns }, { "longest_ns", c->longest_ns },
		{ "collected", c->collected },
	};
	json_t *self;

	profile_collections(p, own);
	self = json_pack("{s:I, s:I}", "self_ns", (json_int_t)own[generation].ns, "self_cycles",
			 (json_int_t)own[generation].cycles);
	return json_join(
		JSON_NUMBERS(numbers),
		json_join(self, summary_cpu_times(!p->unseen, "self_", own[generation].ns, own[generation].off)));
}

json_t *summary_import(const struct import *i)
{
	uint64_t ns;
	const struct code *most = import_most(i, &ns);
	const struct json_number of_most[] = { { "line", most ? most->firstlineno : 0 }, { "ns", ns } };
	const struct json_number numbers[] = {
		{ "depth", i->depth },	     { "count", i->n },		{ "failed", i->failed },
		{ "total_ns", i->total_ns }, { "self_ns", i->self_ns },
	};
	json_t *place = most ? json_pack("{s:o, s:o}", "file", json_text(most->file), "qualname",
					 json_text(most->qualname))
			     : json_null();

	place = most ? json_join(place, JSON_NUMBERS(of_most)) : place;
	return json_join(json_pack("{s:o, s:o, s:o}", "name", json_text(i->name), "file",
				   json_text(i->module ? i->module->file : NULL), "most", place),
			 JSON_NUMBERS(numbers));
}

static json_t *handler(const struct handler *h)
{
	const struct json_number numbers[] = { { "line", h ? h->line : 0 }, { "count", h ? h->n : 0 } };

	return h ? json_join(summary_place(h->code), JSON_NUMBERS(numbers)) : json_null();
}

json_t *summary_exception(const struct raised *r)
{
	uint32_t handlers = 0;

	for (uint32_t i = 0; i < r->nhandlers; i++)
		handlers += r->handlers[i].n > 0;

	const struct json_number numbers[] = {
		{ "line", r->line },	   { "pid", r->code->process->pid },  { "count", r->n },
		{ "handled", r->handled }, { "dropped", r->dropped },	      { "left", r->left },
		{ "frames", r->frames },   { "most_frames", r->frames_most }, { "handlers", handlers },
	};

	return json_join(
		json_pack("{s:o}", "type", json_text(r->type ? r->type->qualname : NULL)),
		json_join(summary_place(r->code),
			  json_join(JSON_NUMBERS(numbers), json_pack("{s:o}", "handler", handler(raised_handler(r))))));
}

json_t *summary_span(const struct span_total *t)
{
	const struct json_number numbers[] = {
		{ "count", t->n },
		{ "total_ns", t->ns },
		{ "longest_ns", t->longest_ns },
		{ "unfinished", t->unfinished },
	};

	return json_join(json_pack("{s:o}", "name", json_text(t->name->qualname)), JSON_NUMBERS(numbers));
}
