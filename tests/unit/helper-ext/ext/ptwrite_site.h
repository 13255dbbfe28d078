/* SPDX-License-Identifier: MIT */
/*
 * ptwrite_site.h - each PTWRITE of a register as a SIGILL, for tests. Not every processor whose
 * CPUID lacks the instruction refuses it: some run it, and it does nothing. So a byte of each is
 * changed before it runs: F3 REX.W 0F AE /4 becomes UD2, 0F 0B, which no processor runs (SDM
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

enum { PTWRITE_SIZE = 5, PTWRITE_OPCODE = 3 };

#define PTWRITE_REAL   0xae
#define PTWRITE_CAUGHT 0x0b

static inline bool ptwrite_site(const uint8_t *ip, uint8_t opcode)
{
	return ip[0] == 0xf3 && (ip[1] & 0xfe) == 0x48 && ip[2] == 0x0f && ip[PTWRITE_OPCODE] == opcode &&
	       (ip[4] & 0xf8) == 0xe0;
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
		for (uintptr_t at = from; at + PTWRITE_SIZE <= from + segment->p_memsz; at++)
			if (ptwrite_site((uint8_t *)at, PTWRITE_REAL))
				ptwrite_change((uint8_t *)at + PTWRITE_OPCODE);
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

	if (!ptwrite_site(ip, PTWRITE_CAUGHT) && !ptwrite_site(ip, PTWRITE_REAL))
		return false;
	*word = (uint64_t)regs[registers[(ip[4] & 7) | (ip[1] & 1) << 3]];
	regs[REG_RIP] += PTWRITE_SIZE;
	return true;
}
