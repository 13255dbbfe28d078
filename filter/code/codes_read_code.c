// SPDX-License-Identifier: MIT
/*
 * Lines about code objects: the instructions of one, and which of them CPython had specialised at the start and at the
 * end.
 */
#include "codes_read_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "heads.h"

static bool read_instr(struct instr *in, json_t *row)
{
	json_int_t offset, line, opcode, target;

	if (json_unpack(row, "[IIII]", &offset, &line, &opcode, &target))
		return false;
	*in = (struct instr){
		.offset = offset, .line = line, .target = target, .base = opcode, .adaptive = opcode, .first = opcode
	};
	return offset >= 0 && opcode >= 0 && opcode < 256;
}

/* Reads rows up to the first that is damaged or out of order, and says whether all were good. */
static bool read_instrs(struct code *code, json_t *rows)
{
	size_t i;
	json_t *row;

	code->instrs = calloc(json_array_size(rows) + 1, sizeof(*code->instrs));
	json_array_foreach (rows, i, row) {
		struct instr *in = &code->instrs[i];

		if (!code->instrs || !read_instr(in, row) || (i && in->offset <= in[-1].offset))
			return false;
		code->ninstrs = i + 1;
	}
	return code->instrs;
}

static void mark_instrs(const struct process *p, struct code *code)
{
	for (uint32_t i = 0; i < code->ninstrs; i++) {
		struct instr *in = &code->instrs[i];
		const char *name = process_opname(p, in->base);

		in->back_edge = !strcmp(name, "JUMP_BACKWARD");
		in->handler = !strcmp(name, "PUSH_EXC_INFO");
		in->resume = !strcmp(name, "RESUME");
		if (!strcmp(name, "RETURN_GENERATOR")) {
			code->generator = true;
			code->entry = -1; /* what is before it runs when the object is made: 3.15 has a RESUME there */
		}
		if (code->entry < 0 && in->resume)
			code->entry = in->offset;
	}
}

static int read_code(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_add(p, get_int(line, "id", 0));
	char *address;

	(void)c;
	if (!code || code->known)
		return -EINVAL;
	set_string(&code->file, line, "file");
	set_string(&code->qualname, line, "qualname");
	set_string(&code->name, line, "name");
	set_string(&code->owner, line, "owner");
	if (!code->file || !code->qualname) {
		free(code->file);
		free(code->qualname);
		code->file = strdup("?");
		code->qualname = strdup("?");
		return code->file && code->qualname ? -EINVAL : -ENOMEM;
	}
	code->known = true;
	code->excluded = json_is_true(json_object_get(line, "excluded"));
	code->coroutine = json_is_true(json_object_get(line, "coroutine"));
	code->firstlineno = get_int(line, "firstlineno", 0);
	code->units = get_int(line, "units", 0);
	code->line_lookup_ns = get_int(line, "line_lookup_ns", 0);
	address = get_string(line, "address");
	code->address = address ? strtoull(address, NULL, 16) : 0;
	free(address);
	if (!read_instrs(code, json_object_get(line, "instructions")))
		return -EINVAL;
	mark_instrs(p, code);
	return heads_mark(p, code);
}

/* --- which instructions were specialised ----------------------------------------------------------------- */

/* Calls set for each instruction in a line's opcodes. `copy`: copies.h; NULL where threads have none. */
static int read_opcodes(struct code *code, json_t *line, struct copy *copy,
			void (*set)(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode))
{
	json_int_t offset, opcode;
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(line, "opcodes"), i, row) {
		uint32_t at;

		if (json_unpack(row, "[II]", &offset, &opcode) || opcode < 0 || opcode > 255)
			return -EINVAL;
		at = code_index(code, offset);
		if (at < code->ninstrs && code->instrs[at].offset == offset)
			set(code, copy, at, opcode);
	}
	return 0;
}

/* Of several copies, what any of them had. */
static void set_first(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode)
{
	struct instr *in = &code->instrs[i];

	(void)copy;
	if (in->first == in->base)
		in->first = opcode;
}

static void set_adaptive(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode)
{
	(void)copy;
	code->instrs[i].adaptive = opcode;
}

static int read_before(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_own(p, get_int(line, "id", 0));

	(void)c;
	return code ? read_opcodes(code, line, NULL, set_first) : -EINVAL;
}

/* A fork also has lines for its parent's code, in its state when the fork ended. They count if the parent has none. */
static bool has_better_state(const struct process *p, const struct code *code)
{
	int32_t own = code->process->pid;

	return !code->final || p->pid == own || (code->final_pid != own && p->pid <= code->final_pid);
}

static void forget_state(struct code *code)
{
	for (uint32_t i = 0; i < code->ninstrs; i++)
		code->instrs[i].adaptive = code->instrs[i].base;
	copies_clear(code);
}

static int read_specialized(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_find(c, p, get_int(line, "id", 0));
	int64_t number = get_int(line, "copy", -1);
	struct copy *copy;

	if (!code)
		return -EINVAL;
	if (!has_better_state(p, code))
		return 0;
	if (code->final_pid != p->pid)
		forget_state(code);
	code->final = true;
	code->final_pid = p->pid;
	if (number < 0)
		return read_opcodes(code, line, NULL, set_adaptive);
	copy = copies_get(code, number);
	return copy ? read_opcodes(code, line, copy, copies_set) : -ENOMEM;
}

static int read_copy(struct codes *c, struct process *p, json_t *line)
{
	int64_t tid = get_int(line, "tid", -1), number = get_int(line, "copy", -1);

	(void)c;
	return tid < 0 || number < 0 ? -EINVAL : copies_add_thread(p, tid, number);
}

const struct line_kind codes_read_code[] = {
	{ "code", read_code },
	{ "before", read_before },
	{ "specialized", read_specialized },
	{ "copy", read_copy },
	{ 0 },
};
