/* SPDX-License-Identifier: MIT */
/* unwind.c - see unwind.h. */
#include "unwind.h"

/* What is at an address of the process. */
struct spot {
	const struct object *object; /* NULL: code that is in no file */
	uint64_t address;	     /* as in the file */
};

static struct spot find_spot(struct objects *all, const struct space *s, uint64_t pc, bool *misses)
{
	struct mapping *m = space_find(s, pc);
	struct spot at = { 0 };

	*misses |= !m;
	if (!m || !m->path[0])
		return at;
	if (!m->object)
		m->object = objects_get(all, m->path, m->inode, s->pid);
	if (m->object && m->object->found && elf_address(&m->object->elf, pc - m->start + m->offset, &at.address))
		at.object = m->object;
	return at;
}

/* Code of somebody's own, without tables: what its frame pointer points to is the caller's, and further out. */
static bool step_by_frame(const struct stack_copy *stack, struct registers *r)
{
	uint64_t rbp = r->value[CFI_RBP];

	if (rbp < r->value[CFI_RSP] || rbp % 8 || !stack_copy_word(stack, rbp + 8, &r->value[CFI_RETURN]) ||
	    !stack_copy_word(stack, rbp, &r->value[CFI_RBP]))
		return false;
	r->value[CFI_RSP] = rbp + 16;
	return r->value[CFI_RBP] > rbp;
}

static bool step(const struct spot *at, const struct stack_copy *stack, struct registers *r, uint64_t pc)
{
	uint64_t was = r->value[CFI_RSP];
	struct registers next = *r;

	if (!at->object || !at->object->cfi.bytes ||
	    !cfi_step(&at->object->cfi, at->address, pc - at->address, stack, &next)) {
		next = *r;
		if (!step_by_frame(stack, &next))
			return false;
	}
	*r = next;
	return r->value[CFI_RSP] > was && r->value[CFI_RETURN];
}

size_t unwind(struct objects *all, const struct space *s, struct registers r, const struct stack_copy *stack,
	      struct place places[UNWIND_MOST], bool *misses)
{
	uint64_t back = 0; /* a return address may be the next function's first */
	size_t n = 0;

	for (; n < UNWIND_MOST; back = 1) {
		uint64_t pc = r.value[CFI_RETURN] - back;
		struct spot at = find_spot(all, s, pc, misses);

		if (back && !at.object && !space_find(s, pc))
			break;
		places[n++] = at.object ? object_place(at.object, at.address) : (struct place){ 0 };
		if (place_is_interpreter(&places[n - 1]) || !step(&at, stack, &r, pc))
			break;
	}
	return n;
}
