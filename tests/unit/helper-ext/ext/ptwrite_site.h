/* SPDX-License-Identifier: MIT */
/*
 * ptwrite_site.h - each PTWRITE of a register as a SIGILL, for tests. Not every processor whose
 * CPUID lacks the instruction refuses it: some run it, and it does nothing. So a byte of each is
 * changed before it runs: F3 [REX] 0F AE /4 becomes UD2, 0F 0B, which no processor runs (SDM
 * volume 2). The prefixes say nothing to UD2, and the last byte, now behind it, still names the
 * register.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PTWRITE_MOST 5 /* bytes */

#define PTWRITE_REAL   0xae
#define PTWRITE_CAUGHT 0x0b

/* REX.W or REX.B, or both, of a register; 0: none, so that the operand has 32 bits. */
static inline uint8_t ptwrite_rex(const uint8_t *ip)
{
	return (ip[1] & 0xf6) == 0x40 ? ip[1] : 0;
}

/* Its size, the last two bytes of which are the opcode and the register; 0: there is none here. */
static inline unsigned ptwrite_site(const uint8_t *ip, uint8_t opcode)
{
	const uint8_t *p = ip + 1 + !!ptwrite_rex(ip);

	return ip[0] == 0xf3 && p[0] == 0x0f && p[1] == opcode && (p[2] & 0xf8) == 0xe0 ? p + 3 - ip : 0;
}

/* Where a page may not be written it stays as it is: a processor may refuse PTWRITE itself. */
static inline void ptwrite_change(uint8_t *opcode)
{
	size_t size = (size_t)getpagesize();
	void *page = opcode - (uintptr_t)opcode % size;

	if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return;
	*opcode = PTWRITE_CAUGHT;
	mprotect(page, size, PROT_READ | PROT_EXEC);
}

static inline int ptwrite_change_all(struct dl_phdr_info *object, size_t size, void *address)
{
	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    (uintptr_t)address - from >= segment->p_memsz)
			continue;
		for (uintptr_t at = from; at + PTWRITE_MOST <= from + segment->p_memsz; at++) {
			unsigned bytes = ptwrite_site((uint8_t *)at, PTWRITE_REAL);

			if (bytes)
				ptwrite_change((uint8_t *)at + bytes - 2);
		}
		return 1;
	}
	return 0;
}

/* All in the program's or library's code that `address` is in. None of it may run meanwhile. */
static inline void ptwrite_catch(void *address)
{
	dl_iterate_phdr(ptwrite_change_all, address);
}

/* At the SIGILL of a PTWRITE, changed or not: its word, and on behind it. False at any other. */
static inline bool ptwrite_caught(void *context, uint64_t *word)
{
	static const int registers[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
					   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *ip = (const uint8_t *)regs[REG_RIP];
	unsigned bytes = ptwrite_site(ip, PTWRITE_CAUGHT) ?: ptwrite_site(ip, PTWRITE_REAL);
	uint8_t rex = ptwrite_rex(ip);

	if (!bytes)
		return false;
	*word = (uint64_t)regs[registers[(ip[bytes - 1] & 7) | (rex & 1) << 3]];
	if (!(rex & 8))
		*word = (uint32_t)*word;
	regs[REG_RIP] += bytes;
	return true;
}
