// SPDX-License-Identifier: MIT
/* Samples of C functions: docs/summary.md. */
#include "base/json.h"
#include "model/sampled.h"
#include "summary_objects.h"

json_t *summary_native(const struct code *code, const struct sampled_row *row)
{
	uint64_t all = code->function->sampled->n;
	const struct json_number numbers[] = {
		{ "line", code->firstlineno }, { "pid", code->process->pid }, { "samples", row->n },
		{ "self_samples", row->self }, { "of_samples", all },
	};
	const struct native_function *f = row->function;
	json_t *names = json_pack("{s:o, s:o, s:o, s:o, s:f, s:f}", "file", json_text(code->file), "qualname",
				  json_text(code->qualname), "symbol", json_text(f ? f->name : NULL), "object",
				  json_text(f && f->object[0] ? f->object : NULL), "share", (double)row->n / all,
				  "share_error", sampled_error(row->n, all));

	return json_join(names, JSON_NUMBERS(numbers));
}

json_t *summary_sampling(const struct profile *p)
{
	const struct natives *n = &p->codes->natives;
	const struct json_number numbers[] = {
		{ "hz", n->hz },
		{ "samples", p->samples },
		{ "outside", p->outside_samples },
		{ "lost", n->lost },
		{ "threads_without", n->threads_without },
	};

	return json_join(json_pack("{s:o}", "error", json_text(n->error)), JSON_NUMBERS(numbers));
}
