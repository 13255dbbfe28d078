/* SPDX-License-Identifier: MIT */
/*
 * insn.h - what the last instruction of a block does to the control flow.
 *
 * QEMU ends a block at every instruction that may jump, and reports only its bytes. x86 instruction format: Intel SDM
 * volume 2, chapter 2 and appendix A.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_NEXT,     /* continues after itself; the block ended for QEMU's reasons */
	INSN_REPEAT,   /* a string instruction with REP: QEMU comes back to it for each element */
	INSN_COND,     /* Jcc, LOOP, JrCXZ: to `target` or the next instruction */
	INSN_JUMP,     /* to `target` */
	INSN_CALL,     /* to `target`, which may RET to the next instruction */
	INSN_JUMP_IND, /* near, by register or memory */
	INSN_CALL_IND,
	INSN_RET,
	INSN_FAR,     /* SYSCALL, INT, IRET, far transfers: leave the traced privilege level */
	INSN_PTWRITE, /* QEMU does not know it: SIGILL */
};

struct insn {
	enum insn_kind kind;
	uint64_t target; /* of COND, JUMP, CALL; else 0 */
};

/* The instruction at `ip`: 64-bit code, `size` bytes. Bytes that are not a branch are INSN_NEXT. */
struct insn insn_decode(const uint8_t *bytes, size_t size, uint64_t ip);
