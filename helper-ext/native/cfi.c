/* SPDX-License-Identifier: MIT */
/* cfi.c - see cfi.h. Every read is checked: a table that says nonsense ends the stack. */
#include <stdlib.h>
#include <string.h>

#include "cfi.h"

/* How pointers are encoded (LSB, DW_EH_PE_*). */
#define PE_OMIT	    0xff
#define PE_FORMAT   0x0f
#define PE_RELATIVE 0x70
#define PE_PCREL    0x10
#define PE_DATAREL  0x30
#define PE_INDIRECT 0x80

#define STATES_MAX 8 /* remember_state within one another */
#define TERMS_MAX  16

bool stack_copy_word(const struct stack_copy *s, uint64_t address, uint64_t *word)
{
	uint64_t at = address - s->address;

	if (at > s->size || s->size - at < sizeof(*word))
		return false;
	memcpy(word, s->bytes + at, sizeof(*word));
	return true;
}

/* --- reading ------------------------------------------------------------------------------------------------- */

/* A position in the tables; after a read beyond the end it stays `bad`. */
struct reader {
	const struct cfi *c;
	uint64_t at, end; /* in c->bytes */
	bool bad;
};

static uint64_t read_bytes(struct reader *r, unsigned size)
{
	uint64_t value = 0;

	if (r->bad || size > r->end - r->at) {
		r->bad = true;
		return 0;
	}
	memcpy(&value, r->c->bytes + r->at, size);
	r->at += size;
	return value;
}

static int64_t read_signed(struct reader *r, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (int64_t)(read_bytes(r, size) << shift) >> shift;
}

static uint64_t read_leb(struct reader *r, bool is_signed)
{
	uint64_t value = 0, byte = 0x80;
	unsigned shift = 0;

	for (; byte & 0x80 && shift < 64 && !r->bad; shift += 7) {
		byte = read_bytes(r, 1);
		value |= (byte & 0x7f) << shift;
	}
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ull << shift;
	return value;
}

static uint64_t uleb(struct reader *r)
{
	return read_leb(r, false);
}

static int64_t sleb(struct reader *r)
{
	return (int64_t)read_leb(r, true);
}

static uint64_t read_format(struct reader *r, uint8_t format)
{
	switch (format) {
	case 0x01:
		return uleb(r);
	case 0x02:
	case 0x03:
		return read_bytes(r, format == 2 ? 2 : 4);
	case 0x00:
	case 0x04:
	case 0x0c:
		return read_bytes(r, 8);
	case 0x09:
		return (uint64_t)sleb(r);
	case 0x0a:
	case 0x0b:
		return (uint64_t)read_signed(r, format == 0x0a ? 2 : 4);
	default:
		r->bad = true;
		return 0;
	}
}

static uint64_t read_pointer(struct reader *r, uint8_t encoding)
{
	uint64_t here = r->c->address + r->at, value = read_format(r, encoding & PE_FORMAT);

	if ((encoding & PE_RELATIVE) == PE_PCREL)
		value += here;
	else if ((encoding & PE_RELATIVE) == PE_DATAREL)
		value += r->c->header;
	return value;
}

static struct reader reader_at(const struct cfi *c, uint64_t address)
{
	struct reader r = { .c = c, .at = address - c->address, .end = c->size };

	r.bad = r.at > c->size;
	return r;
}

/* --- the tables ------------------------------------------------------------------------------------------------ */

static bool read_header(struct cfi *c)
{
	struct reader r = reader_at(c, c->header);
	uint8_t version = (uint8_t)read_bytes(&r, 1), frame = (uint8_t)read_bytes(&r, 1);
	uint8_t count = (uint8_t)read_bytes(&r, 1), table = (uint8_t)read_bytes(&r, 1);

	/* Every linker sorts them, in this form. */
	if (version != 1 || table != (PE_DATAREL | 0x0b) || count == PE_OMIT)
		return false;
	c->frames = read_pointer(&r, frame);
	c->entries = (uint32_t)read_pointer(&r, count);
	c->table = r.at;
	return !r.bad && c->entries <= (c->size - c->table) / 8;
}

/* So many bytes of a loaded segment. */
static bool read_part(struct cfi *c, const struct elf_file *e, const Elf64_Phdr *in, uint64_t address, uint64_t size)
{
	free(c->bytes);
	c->address = address;
	c->size = size;
	c->bytes = elf_read(e, in->p_offset + (address - in->p_vaddr), size);
	return c->bytes && read_header(c);
}

/* .eh_frame is in the same segment, behind .eh_frame_hdr or, by gold and BOLT, before it. */
static bool read_all(struct cfi *c, const struct elf_file *e, const Elf64_Phdr *header)
{
	const Elf64_Phdr *in = elf_segment(e, header->p_vaddr);
	uint64_t end = header->p_vaddr + header->p_filesz;

	c->header = header->p_vaddr;
	if (!in || !read_part(c, e, in, c->header, header->p_filesz) || elf_segment(e, c->frames) != in)
		return false;
	if (c->frames < c->header)
		return read_part(c, e, in, c->frames, end - c->frames);
	return read_part(c, e, in, c->header, in->p_vaddr + in->p_filesz - c->header);
}

void cfi_read(struct cfi *c, const struct elf_file *e)
{
	const Elf64_Phdr *header = NULL;

	*c = (struct cfi){ 0 };
	for (size_t i = 0; i < e->nsegments; i++)
		if (e->segments[i].p_type == PT_GNU_EH_FRAME)
			header = &e->segments[i];
	if (header && !read_all(c, e, header))
		cfi_free(c);
}

void cfi_free(struct cfi *c)
{
	free(c->bytes);
	*c = (struct cfi){ 0 };
}

static int32_t entry(const struct cfi *c, uint32_t i, int which)
{
	int32_t value;

	memcpy(&value, c->bytes + c->table + 8ull * i + 4 * which, sizeof(value));
	return value;
}

/* Where the FDE of an address is; 0: there is none. */
static uint64_t find_fde(const struct cfi *c, uint64_t address)
{
	uint32_t low = 0, high = c->entries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->header + (uint64_t)(int64_t)entry(c, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? c->header + (uint64_t)(int64_t)entry(c, low - 1, 1) : 0;
}

/* An FDE, with what its CIE says. */
struct fde {
	uint64_t start, end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding;
	bool augmented;
	struct reader common, own; /* their instructions */
};

/* The entry's length; the reader ends with it. */
static void read_length(struct reader *r)
{
	uint64_t length = read_bytes(r, 4);

	if (length == 0xffffffff)
		length = read_bytes(r, 8);
	if (!length || length > r->end - r->at)
		r->bad = true;
	else
		r->end = r->at + length;
}

static void read_augmentation(struct reader *r, const char *letters, struct fde *f)
{
	uint64_t size = uleb(r), end = r->at + size;

	f->augmented = true;
	for (const char *l = letters + 1; *l && !r->bad; l++) {
		if (*l == 'R')
			f->encoding = (uint8_t)read_bytes(r, 1);
		else if (*l == 'P')
			read_pointer(r, (uint8_t)read_bytes(r, 1));
		else if (*l == 'L')
			read_bytes(r, 1);
		else
			break; /* 'S' has no data; what others mean is not known, only how long they are */
	}
	r->bad |= end < r->at || end > r->end;
	r->at = end;
}

static bool read_cie(struct reader r, struct fde *f)
{
	char letters[8] = "";
	uint8_t version;

	read_length(&r);
	read_bytes(&r, 4);
	version = (uint8_t)read_bytes(&r, 1);
	for (size_t i = 0; i < sizeof(letters) && (letters[i] = (char)read_bytes(&r, 1)); i++)
		r.bad |= i + 1 == sizeof(letters);
	f->code_align = uleb(&r);
	f->data_align = sleb(&r);
	f->return_register = version == 1 ? read_bytes(&r, 1) : uleb(&r);
	if (letters[0] == 'z' && !r.bad)
		read_augmentation(&r, letters, f);
	else
		r.bad |= letters[0] != '\0';
	f->common = r;
	return !r.bad && (version == 1 || version == 3) && f->return_register == CFI_RETURN;
}

static bool read_fde(const struct cfi *c, uint64_t address, struct fde *f)
{
	uint64_t at = c->bytes ? find_fde(c, address) : 0;
	struct reader r = reader_at(c, at);
	uint64_t here;

	*f = (struct fde){ 0 };
	if (!at)
		return false;
	read_length(&r);
	here = r.c->address + r.at;
	if (!read_cie(reader_at(c, here - read_bytes(&r, 4)), f) || r.bad)
		return false;
	f->start = read_pointer(&r, f->encoding);
	f->end = f->start + read_format(&r, f->encoding & PE_FORMAT);
	if (f->augmented) {
		uint64_t size = uleb(&r);

		r.bad |= size > r.end - r.at;
		r.at += size;
	}
	f->own = r;
	return !r.bad && address >= f->start && address < f->end && !(f->encoding & PE_INDIRECT);
}

bool cfi_bounds(const struct cfi *c, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct fde f;

	if (!read_fde(c, address, &f))
		return false;
	*start = f.start;
	*end = f.end;
	return true;
}

/* --- expressions: those of PLT entries and of signal frames --------------------------------------------------- */

struct terms {
	uint64_t value[TERMS_MAX];
	unsigned n;
};

static void push(struct terms *t, uint64_t value, bool *bad)
{
	if (t->n == TERMS_MAX)
		*bad = true;
	else
		t->value[t->n++] = value;
}

static uint64_t pop(struct terms *t, bool *bad)
{
	if (!t->n) {
		*bad = true;
		return 0;
	}
	return t->value[--t->n];
}

static void operate(struct terms *t, uint8_t op, bool *bad)
{
	uint64_t b = pop(t, bad), a = pop(t, bad);

	switch (op) {
	case 0x1a: /* and */
		return push(t, a & b, bad);
	case 0x1c: /* minus */
		return push(t, a - b, bad);
	case 0x22: /* plus */
		return push(t, a + b, bad);
	case 0x24: /* shl */
		return push(t, b < 64 ? a << b : 0, bad);
	case 0x2a: /* ge */
		return push(t, (int64_t)a >= (int64_t)b, bad);
	default:
		*bad = true;
	}
}

static void evaluate_one(struct reader *r, const struct stack_copy *s, const struct registers *regs, struct terms *t)
{
	uint8_t op = (uint8_t)read_bytes(r, 1);
	uint64_t word = 0;

	if (op >= 0x30 && op <= 0x4f) /* lit0 … lit31 */
		push(t, op - 0x30, &r->bad);
	else if (op >= 0x70 && op <= 0x70 + CFI_RETURN) /* breg0 … */
		push(t, regs->value[op - 0x70] + (uint64_t)sleb(r), &r->bad);
	else if (op == 0x08 || op == 0x0a) /* const1u, const2u */
		push(t, read_bytes(r, op == 0x08 ? 1 : 2), &r->bad);
	else if (op == 0x23) /* plus_uconst */
		push(t, pop(t, &r->bad) + uleb(r), &r->bad);
	else if (op == 0x06) { /* deref */
		r->bad |= !stack_copy_word(s, pop(t, &r->bad), &word);
		push(t, word, &r->bad);
	} else
		operate(t, op, &r->bad);
}

static bool evaluate(struct reader r, const struct stack_copy *s, const struct registers *regs, const uint64_t *first,
		     uint64_t *value)
{
	struct terms t = { 0 };

	if (first)
		push(&t, *first, &r.bad);
	while (r.at < r.end && !r.bad)
		evaluate_one(&r, s, regs, &t);
	*value = pop(&t, &r.bad);
	return !r.bad;
}

/* --- what the instructions say at an address ------------------------------------------------------------------ */

enum rule_kind { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION };

struct rule {
	enum rule_kind kind;
	int64_t value; /* offset from the CFA, or register */
	struct reader expression;
};

struct row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_expression;
	struct reader expression;
	struct rule rules[CFI_REGISTERS];
};

struct run {
	const struct fde *f;
	uint64_t location, until;
	const struct row *initial;
	struct row row;
	struct row states[STATES_MAX];
	unsigned nstates;
};

static void set_rule(struct run *x, uint64_t reg, enum rule_kind kind, int64_t value)
{
	if (reg < CFI_REGISTERS)
		x->row.rules[reg] = (struct rule){ .kind = kind, .value = value };
}

static struct reader block(struct reader *r)
{
	uint64_t size = uleb(r);
	struct reader b = *r;

	if (r->bad || size > r->end - r->at) {
		r->bad = b.bad = true;
		return b;
	}
	b.end = b.at + size;
	r->at = b.end;
	return b;
}

static void set_expression(struct run *x, struct reader *r, enum rule_kind kind)
{
	uint64_t reg = uleb(r);
	struct reader b = block(r);

	if (reg < CFI_REGISTERS)
		x->row.rules[reg] = (struct rule){ .kind = kind, .expression = b };
}

static void restore(struct run *x, uint64_t reg)
{
	if (reg < CFI_REGISTERS)
		x->row.rules[reg] = x->initial ? x->initial->rules[reg] : (struct rule){ 0 };
}

/* A factored offset: of a damaged table anything, also beyond 64 bits. */
static int64_t unfactored(const struct run *x, uint64_t n)
{
	return (int64_t)(n * (uint64_t)x->f->data_align);
}

static void set_cfa(struct run *x, uint64_t reg, int64_t offset)
{
	x->row.cfa_register = reg;
	x->row.cfa_offset = offset;
	x->row.cfa_expression = false;
}

static void remember(struct run *x, struct reader *r)
{
	if (x->nstates == STATES_MAX)
		r->bad = true;
	else
		x->states[x->nstates++] = x->row;
}

static void recall(struct run *x, struct reader *r)
{
	if (!x->nstates)
		r->bad = true;
	else
		x->row = x->states[--x->nstates];
}

static void take_cfa(struct run *x, struct reader *r, uint8_t op)
{
	uint64_t reg = op == 0x0e || op == 0x13 || op == 0x0f ? x->row.cfa_register : uleb(r);

	switch (op) {
	case 0x0c: /* def_cfa */
		return set_cfa(x, reg, (int64_t)uleb(r));
	case 0x0d: /* def_cfa_register */
		return set_cfa(x, reg, x->row.cfa_offset);
	case 0x0e: /* def_cfa_offset */
		return set_cfa(x, reg, (int64_t)uleb(r));
	case 0x12: /* def_cfa_sf */
	case 0x13: /* def_cfa_offset_sf */
		return set_cfa(x, reg, unfactored(x, (uint64_t)sleb(r)));
	default: /* def_cfa_expression */
		x->row.cfa_expression = true;
		x->row.expression = block(r);
	}
}

static void take_rule(struct run *x, struct reader *r, uint8_t op)
{
	uint64_t reg = uleb(r);

	switch (op) {
	case 0x05: /* offset_extended */
		return set_rule(x, reg, AT_OFFSET, unfactored(x, uleb(r)));
	case 0x06: /* restore_extended */
		return restore(x, reg);
	case 0x07: /* undefined */
		return set_rule(x, reg, UNDEFINED, 0);
	case 0x08: /* same_value */
		return set_rule(x, reg, SAME, 0);
	case 0x09: /* register */
		return set_rule(x, reg, IN_REGISTER, (int64_t)uleb(r));
	case 0x11: /* offset_extended_sf */
		return set_rule(x, reg, AT_OFFSET, unfactored(x, (uint64_t)sleb(r)));
	case 0x14: /* val_offset */
		return set_rule(x, reg, IS_OFFSET, unfactored(x, uleb(r)));
	default: /* val_offset_sf */
		return set_rule(x, reg, IS_OFFSET, unfactored(x, (uint64_t)sleb(r)));
	}
}

static void take_extended(struct run *x, struct reader *r, uint8_t op)
{
	switch (op) {
	case 0x00: /* nop */
		return;
	case 0x01: /* set_loc */
		x->location = read_pointer(r, x->f->encoding);
		return;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		x->location += read_bytes(r, 1u << (op - 2)) * x->f->code_align;
		return;
	case 0x0a:
		return remember(x, r);
	case 0x0b:
		return recall(x, r);
	case 0x10: /* expression, val_expression */
	case 0x16:
		return set_expression(x, r, op == 0x10 ? AT_EXPRESSION : IS_EXPRESSION);
	case 0x2e: /* GNU_args_size */
		uleb(r);
		return;
	case 0x0c ... 0x0f:
	case 0x12:
	case 0x13:
		return take_cfa(x, r, op);
	case 0x05 ... 0x09:
	case 0x11:
	case 0x14:
	case 0x15:
		return take_rule(x, r, op);
	default:
		r->bad = true;
	}
}

/* All instructions for addresses up to `until`. */
static bool run(struct run *x, struct reader r)
{
	while (r.at < r.end && !r.bad && x->location <= x->until) {
		uint8_t op = (uint8_t)read_bytes(&r, 1);
		uint8_t low = op & 0x3f;

		if (op >> 6 == 1) /* advance_loc */
			x->location += low * x->f->code_align;
		else if (op >> 6 == 2) /* offset */
			set_rule(x, low, AT_OFFSET, unfactored(x, uleb(&r)));
		else if (op >> 6 == 3)
			restore(x, low);
		else
			take_extended(x, &r, op);
	}
	return !r.bad;
}

/* The instruction that moves beyond `until` must not have its successors run: run() checks before each. */
static bool row_at(const struct fde *f, uint64_t address, struct run *x, struct row *initial)
{
	*x = (struct run){ .f = f, .location = f->start, .until = UINT64_MAX };
	if (!run(x, f->common))
		return false;
	*initial = x->row;
	x->initial = initial;
	x->location = f->start;
	x->until = address;
	return run(x, f->own);
}

/* --- one step -------------------------------------------------------------------------------------------------- */

static bool apply(const struct rule *rule, uint64_t cfa, const struct stack_copy *s, const struct registers *from,
		  uint64_t *value)
{
	uint64_t at;

	switch (rule->kind) {
	case AT_OFFSET:
		return stack_copy_word(s, cfa + (uint64_t)rule->value, value);
	case IS_OFFSET:
		*value = cfa + (uint64_t)rule->value;
		return true;
	case IN_REGISTER:
		*value = (uint64_t)rule->value < CFI_REGISTERS ? from->value[rule->value] : 0;
		return true;
	case AT_EXPRESSION:
		return evaluate(rule->expression, s, from, &cfa, &at) && stack_copy_word(s, at, value);
	case IS_EXPRESSION:
		return evaluate(rule->expression, s, from, &cfa, value);
	case SAME:
	case UNDEFINED:
		return true;
	}
	return false;
}

static bool find_cfa(const struct row *row, const struct stack_copy *s, const struct registers *r, uint64_t *cfa)
{
	if (row->cfa_expression)
		return evaluate(row->expression, s, r, NULL, cfa);
	if (row->cfa_register >= CFI_RETURN)
		return false;
	*cfa = r->value[row->cfa_register] + (uint64_t)row->cfa_offset;
	return true;
}

bool cfi_step(const struct cfi *c, uint64_t address, uint64_t bias, const struct stack_copy *s, struct registers *r)
{
	struct registers from = *r;
	struct row initial;
	struct run x;
	struct fde f;
	uint64_t cfa;

	/* PLT entries compute with where they are in 16 bytes: the same in the file. */
	from.value[CFI_RETURN] -= bias;
	if (!read_fde(c, address, &f) || !row_at(&f, address, &x, &initial) || !find_cfa(&x.row, s, &from, &cfa))
		return false;
	/* The outermost function says that it has no caller. */
	if (x.row.rules[CFI_RETURN].kind == UNDEFINED || x.row.rules[CFI_RETURN].kind == SAME)
		return false;
	r->value[CFI_RSP] = cfa;
	for (int i = 0; i < CFI_REGISTERS; i++)
		if (!apply(&x.row.rules[i], cfa, s, &from, &r->value[i]))
			return false;
	return true;
}
