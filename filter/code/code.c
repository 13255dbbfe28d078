// SPDX-License-Identifier: MIT
/* What a code object's entry in the table says by itself; codes.c finds the entry. */
#include "code.h"

#include <string.h>

int code_place_order(const struct code *a, const struct code *b)
{
	int order = strcmp(a->file, b->file);

	order = order ?: (a->firstlineno > b->firstlineno) - (a->firstlineno < b->firstlineno);
	return order ?: strcmp(a->qualname, b->qualname);
}

int code_order(const struct code *a, const struct code *b)
{
	int order = code_place_order(a, b);

	order = order ?: (a->process->pid > b->process->pid) - (a->process->pid < b->process->pid);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

uint32_t code_index(const struct code *code, int64_t offset)
{
	uint32_t low = 0, high = code->ninstrs;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (code->instrs[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : code->ninstrs;
}

const struct back_edge *code_back_edge(const struct code *code, int64_t offset)
{
	uint32_t low = 0, high = code->nback_edges;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (code->back_edges[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < code->nback_edges && code->back_edges[low].offset == offset ? &code->back_edges[low] : NULL;
}

int64_t code_head(const struct code *code, const struct instr *in)
{
	const struct back_edge *edge = code_back_edge(code, in->offset);

	return edge ? edge->head : in->target;
}

/* Damaged tables may contain anything. */
bool code_lines(const struct code *code, int32_t *first, int32_t *last)
{
	*first = INT32_MAX;
	*last = 0;
	for (uint32_t i = 0; i < code->ninstrs; i++) {
		int32_t line = code->instrs[i].line;

		if (line > 0 && line < *first)
			*first = line;
		if (line > *last)
			*last = line;
	}
	return *last >= *first && *last - *first < CODE_LINES_MOST;
}

const char *code_name(const struct code *code)
{
	const char *dot = strrchr(code->qualname, '.');

	if (code->name)
		return code->name;
	return dot ? dot + 1 : code->qualname;
}

const char *process_opname(const struct process *p, uint8_t opcode)
{
	return p->opnames[opcode] ? p->opnames[opcode] : "?";
}

uint8_t process_opcode(const struct process *p, const char *name)
{
	for (int op = 1; op < 256; op++)
		if (p->opnames[op] && !strcmp(p->opnames[op], name))
			return op;
	return 0;
}

const char *process_thread_name(const struct process *p, int32_t tid)
{
	return map_get(&p->threads, (uint32_t)tid);
}
