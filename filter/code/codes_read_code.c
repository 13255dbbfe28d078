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

/* `before`: the offset of the one before it; -1: it is the first. */
static inline bool read_instr(struct instr *in, const int32_t *row, int32_t before)
{
	int32_t offset = row[0], opcode = row[2];

	*in = (struct instr){
		.offset = offset, .line = row[1], .target = row[3], .base = opcode, .adaptive = opcode, .first = opcode
	};
	return offset > before && opcode >= 0 && opcode < 256;
}

static void note_role(struct code *code, struct instr *in, enum opcode_role role)
{
	in->back_edge = role == ROLE_BACK_EDGE;
	in->handler = role == ROLE_HANDLER;
	in->resume = role == ROLE_RESUME;
	if (role == ROLE_GENERATOR) {
		code->generator = true;
		code->entry = -1; /* what is before it runs when the object is made: 3.15 has a RESUME there */
	}
	if (code->entry < 0 && in->resume)
		code->entry = in->offset;
}

/* Reads rows up to the first that is damaged or out of order: -EINVAL. 1: there are back-edges; 0: none. */
static int read_instrs(struct process *p, struct code *code, const struct number_rows *rows)
{
	struct instr *in = code->instrs = pool_take(&p->pool, rows->n * sizeof(*in));
	const int32_t *row = rows->all;
	int32_t before = -1;
	bool back_edges = false;
	size_t i = 0;

	for (; in && i < rows->n && read_instr(&in[i], row, before); i++, row += rows->width) {
		enum opcode_role role = p->roles[in[i].base];

		before = in[i].offset;
		back_edges |= role == ROLE_BACK_EDGE;
		if (role != ROLE_NONE)
			note_role(code, &in[i], role);
	}
	code->ninstrs = i;
	return in && i == rows->n && !rows->damaged ? back_edges : -EINVAL;
}

static char *pool_text_of(struct process *p, const struct flat_line *line, const char *key)
{
	size_t length;
	const char *text = flat_line_text(line, key, &length);

	return text ? pool_text(&p->pool, text, length) : NULL;
}

/* Code of one file mostly comes together. */
static char *pool_file_of(struct process *p, const struct flat_line *line)
{
	if (!p->file || !flat_line_is(line, "file", p->file))
		p->file = pool_text_of(p, line, "file");
	return p->file;
}

/* 0, -EINVAL: file or qualname is missing; -ENOMEM. */
static int read_texts(struct process *p, struct code *code, const struct flat_line *line)
{
	code->file = pool_file_of(p, line);
	code->qualname = pool_text_of(p, line, "qualname");
	code->name = pool_text_of(p, line, "name");
	code->owner = pool_text_of(p, line, "owner");
	if (code->file && code->qualname)
		return 0;
	code->file = code->qualname = pool_print(&p->pool, "?");
	return code->file ? -EINVAL : -ENOMEM;
}

static int read_code(struct codes *c, struct process *p, const struct flat_line *line, const struct number_rows *rows)
{
	struct code *code = codes_add(p, flat_line_number(line, "id", 0));
	int err;

	(void)c;
	if (!code || code->known)
		return -EINVAL;
	err = read_texts(p, code, line);
	if (err)
		return err;
	code->known = true;
	code->excluded = flat_line_is_true(line, "excluded");
	code->coroutine = flat_line_is_true(line, "coroutine");
	code->firstlineno = flat_line_number(line, "firstlineno", 0);
	code->units = flat_line_number(line, "units", 0);
	code->line_lookup_ns = flat_line_number(line, "line_lookup_ns", 0);
	code->address = flat_line_address(line, "address");
	err = read_instrs(p, code, rows);
	return err > 0 ? heads_mark(p, code) : err;
}

/* --- which instructions were specialised ----------------------------------------------------------------- */

/* code_index(), most often a little behind `at`: its rows have ascending offsets. */
static uint32_t index_behind(const struct code *code, uint32_t at, int64_t offset)
{
	if (at >= code->ninstrs || code->instrs[at].offset > offset)
		return code_index(code, offset);
	while (at + 1 < code->ninstrs && code->instrs[at + 1].offset <= offset)
		at++;
	return at;
}

/* Calls set for each instruction in a line's opcodes. `copy`: copies.h; NULL where threads have none. */
static int read_opcodes(struct code *code, const struct number_rows *rows, struct copy *copy,
			void (*set)(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode))
{
	uint32_t at = 0;

	for (size_t i = 0; i < rows->n; i++) {
		int64_t offset = rows->all[i * rows->width], opcode = rows->all[i * rows->width + 1];

		at = index_behind(code, at, offset);
		if (opcode < 0 || opcode > 255)
			return -EINVAL;
		if (at < code->ninstrs && code->instrs[at].offset == offset)
			set(code, copy, at, opcode);
	}
	return rows->damaged ? -EINVAL : 0;
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

static int read_before(struct codes *c, struct process *p, const struct flat_line *line, const struct number_rows *rows)
{
	struct code *code = codes_own(p, flat_line_number(line, "id", 0));

	(void)c;
	return code ? read_opcodes(code, rows, NULL, set_first) : -EINVAL;
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

static int read_specialized(struct codes *c, struct process *p, const struct flat_line *line,
			    const struct number_rows *rows)
{
	struct code *code = codes_find(c, p, flat_line_number(line, "id", 0));
	int64_t number = flat_line_number(line, "copy", -1);
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
		return read_opcodes(code, rows, NULL, set_adaptive);
	copy = copies_get(code, number);
	return copy ? read_opcodes(code, rows, copy, copies_set) : -ENOMEM;
}

static int read_copy(struct codes *c, struct process *p, json_t *line)
{
	int64_t tid = get_int(line, "tid", -1), number = get_int(line, "copy", -1);

	(void)c;
	return tid < 0 || number < 0 ? -EINVAL : copies_add_thread(p, tid, number);
}

const struct line_kind codes_read_code[] = {
	{ "copy", read_copy },
	{ 0 },
};

const struct rows_kind codes_read_rows[] = {
	{ "code", "instructions", read_code },
	{ "before", "opcodes", read_before },
	{ "specialized", "opcodes", read_specialized },
	{ 0 },
};
