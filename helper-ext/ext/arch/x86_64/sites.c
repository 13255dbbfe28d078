/* SPDX-License-Identifier: MIT */
/*
 * sites.c - see sites.h.
 *
 * Every byte E8 in the code may be a call; what follows is decoded as long as it is moves and arithmetic, up to an
 * indirect jump through a scaled index or a register (SDM volume 2, chapter 2 and appendix A). Anything else is not the
 * pattern.
 */
#include <string.h>

#include "ext/sites.h"

#define CALL_SIZE 5
#define STEPS_MAX 12 /* instructions between call and jump: 3 to 8 were seen */
#define LONGEST	  16

enum kind {
	OTHER,	   /* not of the pattern */
	MOVE,	   /* no load of bytecode */
	LOAD_BYTE, /* movzx r32, byte [base + displacement] */
	LOAD_WORD, /* movzx r32, word [...]: opcode and argument at once */
	JUMP,	   /* jmp rel: goes on there */
	DISPATCH,  /* jmp *register, jmp *[...] */
};

struct insn {
	enum kind kind;
	int size;
	int32_t jump;
};

/* ModRM, SIB and displacement at p. */
static int modrm_size(const uint8_t *p)
{
	int mod = p[0] >> 6, rm = p[0] & 7, size = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		size++;
		if (mod == 0 && (p[1] & 7) == 5)
			return size + 4;
	}
	if (mod == 0)
		return rm == 5 ? size + 4 : size;
	return size + (mod == 1 ? 1 : 4);
}

static bool is_memory(uint8_t modrm)
{
	return modrm >> 6 != 3;
}

/* Opcodes with a ModRM byte, and their bytes of immediate: what compilers put between. */
static int immediate_of(uint8_t op)
{
	switch (op) {
	case 0x01:
	case 0x03:
	case 0x09:
	case 0x0b:
	case 0x21:
	case 0x23:
	case 0x29:
	case 0x2b:
	case 0x31:
	case 0x33:
	case 0x39:
	case 0x3b:
	case 0x63:
	case 0x85:
	case 0x88:
	case 0x89:
	case 0x8b:
	case 0x8d:
	case 0xd1:
	case 0xd3:
		return 0;
	case 0x83:
	case 0xc1:
	case 0xc6:
		return 1;
	case 0x81:
	case 0xc7:
		return 4;
	default:
		return -1;
	}
}

static struct insn two_bytes(const uint8_t *p, int at)
{
	struct insn insn = { OTHER, at + 1 + modrm_size(p + at + 1), 0 };

	switch (p[at]) {
	case 0xb6: /* movzx of a byte */
		insn.kind = is_memory(p[at + 1]) ? LOAD_BYTE : MOVE;
		break;
	case 0xb7: /* movzx of a word */
		insn.kind = is_memory(p[at + 1]) ? LOAD_WORD : MOVE;
		break;
	case 0x1f: /* nop */
		insn.kind = MOVE;
	}
	return insn;
}

/* The end of a function's frame: pop, leave. Handlers that are functions have it before the jump. */
static bool is_pop(uint8_t op)
{
	return (op & 0xf8) == 0x58 || op == 0xc9;
}

static struct insn decode(const uint8_t *p)
{
	int at = 0, immediate;
	struct insn insn = { 0 };

	while (p[at] == 0x66 || (p[at] & 0xf0) == 0x40 || p[at] == 0x3e)
		if (++at > 3)
			return insn;
	if (p[at] == 0x0f)
		return two_bytes(p, at + 1);
	if (p[at] == 0xff && (p[at + 1] >> 3 & 7) == 4)
		return (struct insn){ DISPATCH, at + 1 + modrm_size(p + at + 1), 0 };
	if (p[at] == 0xeb)
		return (struct insn){ JUMP, at + 2, (int8_t)p[at + 1] };
	if (p[at] == 0xe9) {
		insn = (struct insn){ JUMP, at + 5, 0 };
		memcpy(&insn.jump, p + at + 1, 4);
		return insn;
	}
	if (is_pop(p[at]))
		return (struct insn){ MOVE, at + 1, 0 };
	immediate = immediate_of(p[at]);
	if (immediate >= 0) {
		insn.kind = MOVE;
		insn.size = at + 1 + modrm_size(p + at + 1) + immediate;
	}
	return insn;
}

/* From `at` on, is there nothing but moves up to an indirect jump, with this many loads of a byte and of a word? */
static bool dispatches(const struct range *code, uint64_t at, int bytes, int words)
{
	for (int step = 0; step < STEPS_MAX; step++) {
		uint8_t text[LONGEST] = { 0 }; /* behind the end: zeros, which decode as OTHER */
		struct insn insn;

		if (at < code->start || at >= code->end)
			return false;
		memcpy(text, (const uint8_t *)at, code->end - at < LONGEST ? code->end - at : LONGEST);
		insn = decode(text);
		if (insn.kind == OTHER)
			return false;
		if (insn.kind == DISPATCH)
			return !bytes && !words;
		bytes -= insn.kind == LOAD_BYTE;
		words -= insn.kind == LOAD_WORD;
		at += insn.size + insn.jump;
	}
	return false;
}

size_t sites_find(const struct range *code, uint64_t *sites, size_t room)
{
	size_t n = 0;

	for (uint64_t at = code->start; at + CALL_SIZE < code->end && n < room; at++)
		if (*(const uint8_t *)at == 0xe8 && dispatches(code, at + CALL_SIZE, 1, 0))
			sites[n++] = at + CALL_SIZE;
	return n;
}

bool sites_dispatches(const struct range *code)
{
	for (uint64_t at = code->start; at < code->end; at++)
		if (*(const uint8_t *)at == 0x0f && dispatches(code, at, 0, 1))
			return true;
	return false;
}
