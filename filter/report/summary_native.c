// SPDX-License-Identifier: MIT
/* Samples of C functions: docs/summary.md. */
#include "base/value.h"
#include "model/sampled.h"
#include "summary_objects.h"

struct value *summary_native(const struct code *code, const struct sampled_row *row)
{
	uint64_t all = code->function->sampled->n;
	const struct value_number numbers[] = {
		{ "line", code->firstlineno }, { "pid", code->process->pid }, { "samples", row->n },
		{ "self_samples", row->self }, { "of_samples", all },
	};
	const struct native_function *f = row->function;
	struct value *names = value_pack("{s:o, s:o, s:o, s:o, s:f, s:f}", "file", value_text(code->file), "qualname",
					 value_text(code->qualname), "symbol", value_text(f ? f->name : NULL), "object",
					 value_text(f && f->object[0] ? f->object : NULL), "share",
					 (double)row->n / all, "share_error", sampled_error(row->n, all));

	return value_join(names, VALUE_NUMBERS(numbers));
}

struct value *summary_sampling(const struct profile *p)
{
	const struct natives *n = &p->codes->natives;
	const struct value_number numbers[] = {
		{ "hz", n->hz },
		{ "samples", p->samples },
		{ "outside", p->outside_samples },
		{ "lost", n->lost },
		{ "threads_without", n->threads_without },
	};

	return value_join(value_pack("{s:o}", "error", value_text(n->error)), VALUE_NUMBERS(numbers));
}
