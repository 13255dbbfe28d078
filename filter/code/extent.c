// SPDX-License-Identifier: MIT
#include "extent.h"

static bool repeats(const struct code *code, const struct instr *in, int64_t head)
{
	return in->target >= 0 && in->target <= (int64_t)in->offset && code_head(code, in) == head;
}

static bool goes_back(const struct instr *in, int64_t first, int64_t last)
{
	return first <= in->target && in->target <= last && in->target <= (int64_t)in->offset;
}

struct extent extent_of(const struct code *code, int64_t head)
{
	struct extent e = { .handlers = INT64_MAX };
	int64_t last = -1, ahead = -1;
	uint32_t first = code_index(code, head);

	for (uint32_t i = first; i < code->ninstrs; i++) {
		const struct instr *in = &code->instrs[i];

		if (in->handler && in->offset > head && e.handlers == INT64_MAX) {
			e.handlers = in->offset;
			ahead = last;
		}
		if (repeats(code, in, head))
			last = in->offset;
	}
	e.body = ahead >= 0 ? ahead : last >= 0 ? last : head;
	e.end = e.body;
	for (uint32_t i = first; i < code->ninstrs; i++)
		if (goes_back(&code->instrs[i], head, e.body) && code->instrs[i].offset > e.end)
			e.end = code->instrs[i].offset;
	return e;
}
