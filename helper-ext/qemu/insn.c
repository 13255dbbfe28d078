/* SPDX-License-Identifier: MIT */
/* insn.c - prefixes, then a table of opcodes; a relative target is in the last bytes. */
#include <stdbool.h>
#include <string.h>

#include "insn.h"

enum map { MAP_ONE, MAP_0F };

static const struct row {
	uint8_t first, last; /* opcodes */
	enum map map;
	enum insn_kind kind;
	uint8_t relative; /* bytes of the displacement, at the end */
} rows[] = {
	{ 0x70, 0x7f, MAP_ONE, INSN_COND, 1 }, /* Jcc */
	{ 0xe0, 0xe3, MAP_ONE, INSN_COND, 1 }, /* LOOPcc, JrCXZ */
	{ 0x80, 0x8f, MAP_0F, INSN_COND, 4 },  /* Jcc */
	{ 0xe8, 0xe8, MAP_ONE, INSN_CALL, 4 }, { 0xe9, 0xe9, MAP_ONE, INSN_JUMP, 4 },
	{ 0xeb, 0xeb, MAP_ONE, INSN_JUMP, 1 }, { 0xc2, 0xc3, MAP_ONE, INSN_RET, 0 },
	{ 0xca, 0xcf, MAP_ONE, INSN_FAR, 0 }, /* RETF, INT3, INT, IRET */
	{ 0x05, 0x05, MAP_0F, INSN_FAR, 0 },  /* SYSCALL */
	{ 0x34, 0x34, MAP_0F, INSN_FAR, 0 },  /* SYSENTER */
};

/* INS, OUTS; MOVS, CMPS; STOS, LODS, SCAS. */
static bool is_string(uint8_t op)
{
	return (op >= 0x6c && op <= 0x6f) || (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf);
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
	       byte == 0x64 || byte == 0x65 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

static bool is_rex(uint8_t byte)
{
	return byte >> 4 == 4;
}

/* Group 5: the register field of ModRM says which. */
static enum insn_kind group_5(uint8_t modrm)
{
	static const enum insn_kind kinds[8] = {
		[2] = INSN_CALL_IND,
		[3] = INSN_FAR,
		[4] = INSN_JUMP_IND,
		[5] = INSN_FAR,
	};

	return kinds[modrm >> 3 & 7];
}

static int64_t displacement(const uint8_t *end, uint8_t size)
{
	int32_t wide;

	if (size == 1)
		return (int8_t)end[-1];
	memcpy(&wide, end - 4, sizeof(wide));
	return wide;
}

static struct insn by_table(enum map map, uint8_t op, const uint8_t *end, size_t left, uint64_t next)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];

		if (map != r->map || op < r->first || op > r->last || left < r->relative)
			continue;
		return (struct insn){ r->kind, r->relative ? next + displacement(end, r->relative) : 0 };
	}
	return (struct insn){ INSN_NEXT, 0 };
}

struct insn insn_decode(const uint8_t *bytes, size_t size, uint64_t ip)
{
	const uint8_t *p = bytes, *end = bytes + size;
	bool rep = false, f3 = false;
	enum map map = MAP_ONE;
	uint8_t op;

	for (; p < end && is_prefix(*p); p++) {
		rep |= *p == 0xf2 || *p == 0xf3;
		f3 |= *p == 0xf3;
	}
	if (p < end && is_rex(*p))
		p++;
	if (end - p >= 2 && *p == 0x0f) {
		map = MAP_0F;
		p++;
	}
	if (p == end)
		return (struct insn){ INSN_NEXT, 0 };
	op = *p++;
	if (map == MAP_ONE && rep && is_string(op))
		return (struct insn){ INSN_REPEAT, 0 };
	if (map == MAP_ONE && op == 0xff && p < end)
		return (struct insn){ group_5(*p), 0 };
	if (map == MAP_0F && op == 0xae && f3 && p < end && (*p >> 3 & 7) == 4)
		return (struct insn){ INSN_PTWRITE, 0 };
	return by_table(map, op, end, (size_t)(end - p), ip + size);
}
