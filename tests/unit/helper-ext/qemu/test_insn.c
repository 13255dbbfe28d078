/* SPDX-License-Identifier: MIT */
/* test_qemu_insn.c - what instructions do to the flow of control; bytes as an assembler writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qemu/insn.h"

#define IP	    0x401000
#define BYTES(text) text, sizeof(text) - 1

static const struct row {
	const char *text;
	const char *bytes;
	size_t size;
	enum insn_kind kind;
	int64_t distance; /* of the target from the end; 0: none */
} rows[] = {
	{ "nop", BYTES("\x90"), INSN_NEXT, 0 },
	{ "jne -2", BYTES("\x75\xfe"), INSN_COND, -2 },
	{ "bnd jo +5", BYTES("\xf2\x70\x05"), INSN_COND, 5 },
	{ "jg far", BYTES("\x0f\x8f\x78\x56\x34\x12"), INSN_COND, 0x12345678 },
	{ "loop -4", BYTES("\xe2\xfc"), INSN_COND, -4 },
	{ "jrcxz +16", BYTES("\xe3\x10"), INSN_COND, 16 },
	{ "jecxz +16", BYTES("\x67\xe3\x10"), INSN_COND, 16 },
	{ "call", BYTES("\xe8\xfb\xff\xff\xff"), INSN_CALL, -5 },
	{ "jmp", BYTES("\xe9\xff\xff\x00\x01"), INSN_JUMP, 0x100ffff },
	{ "jmp short", BYTES("\xeb\x7f"), INSN_JUMP, 127 },
	{ "notrack jmp *%rax", BYTES("\x3e\xff\xe0"), INSN_JUMP_IND, 0 },
	{ "jmp *%r11", BYTES("\x41\xff\xe3"), INSN_JUMP_IND, 0 },
	{ "call *8(%rax)", BYTES("\xff\x50\x08"), INSN_CALL_IND, 0 },
	{ "call *(%r12,%r13,8)", BYTES("\x43\xff\x14\xec"), INSN_CALL_IND, 0 },
	{ "inc (%rax)", BYTES("\xff\x00"), INSN_NEXT, 0 },
	{ "push 8(%rax)", BYTES("\xff\x70\x08"), INSN_NEXT, 0 },
	{ "ljmp *(%rax)", BYTES("\xff\x28"), INSN_FAR, 0 },
	{ "ret", BYTES("\xc3"), INSN_RET, 0 },
	{ "repz ret", BYTES("\xf3\xc3"), INSN_RET, 0 },
	{ "ret 8", BYTES("\xc2\x08\x00"), INSN_RET, 0 },
	{ "syscall", BYTES("\x0f\x05"), INSN_FAR, 0 },
	{ "int3", BYTES("\xcc"), INSN_FAR, 0 },
	{ "int 0x80", BYTES("\xcd\x80"), INSN_FAR, 0 },
	{ "iretq", BYTES("\x48\xcf"), INSN_FAR, 0 },
	{ "rep movsb", BYTES("\xf3\xa4"), INSN_REPEAT, 0 },
	{ "rep stosq", BYTES("\xf3\x48\xab"), INSN_REPEAT, 0 },
	{ "repne scasb", BYTES("\xf2\xae"), INSN_REPEAT, 0 },
	{ "movsb", BYTES("\xa4"), INSN_NEXT, 0 },
	{ "pause", BYTES("\xf3\x90"), INSN_NEXT, 0 },
	{ "ptwrite %rax", BYTES("\xf3\x48\x0f\xae\xe0"), INSN_PTWRITE, 0 },
	{ "ptwrite %r15", BYTES("\xf3\x49\x0f\xae\xe7"), INSN_PTWRITE, 0 },
	{ "ptwrite %ecx", BYTES("\xf3\x0f\xae\xe1"), INSN_PTWRITE, 0 },
	{ "ptwriteq (%rcx)", BYTES("\xf3\x48\x0f\xae\x21"), INSN_PTWRITE, 0 },
	{ "xsave (%rcx)", BYTES("\x0f\xae\x21"), INSN_NEXT, 0 },
	{ "rdgsbase %rax", BYTES("\xf3\x48\x0f\xae\xc8"), INSN_NEXT, 0 },
	{ "mov 0xc3", BYTES("\xb8\xc3\xc3\xc3\xc3"), INSN_NEXT, 0 },
	{ "movaps with 0x75", BYTES("\x0f\x28\x75\xfe"), INSN_NEXT, 0 },
	{ "half of a jcc", BYTES("\x0f\x84"), INSN_NEXT, 0 },
	{ "a prefix alone", BYTES("\x66"), INSN_NEXT, 0 },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		struct insn insn = insn_decode((const uint8_t *)r->bytes, r->size, IP);

		if (insn.kind != r->kind)
			fail_msg("%s: %d", r->text, insn.kind);
		if (insn.target != (r->distance ? IP + r->size + (uint64_t)r->distance : 0))
			fail_msg("%s: to %#llx", r->text, (unsigned long long)insn.target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
