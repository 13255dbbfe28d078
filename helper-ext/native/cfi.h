/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - from a function to its caller by the unwind tables (.eh_frame) of x86-64, as the Linux Standard Base and
 * DWARF 5, section 6.4, describe them. Compilers write them for all code; frame pointers are hardly ever there.
 */
#pragma once

#include "elf_file.h"

/* Numbers of the registers in DWARF, of the psABI for x86-64. */
enum { CFI_RBP = 6, CFI_RSP = 7, CFI_RETURN = 16, CFI_REGISTERS = 17 };

struct registers {
	uint64_t value[CFI_REGISTERS]; /* [CFI_RETURN]: where it runs */
};

/* Part of a thread's stack, copied. */
struct stack_copy {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

bool stack_copy_word(const struct stack_copy *s, uint64_t address, uint64_t *word);

struct cfi {
	uint8_t *bytes; /* .eh_frame_hdr and .eh_frame; NULL: there are none */
	uint64_t address, size;
	uint64_t table;		 /* its entries: pairs of int32_t, relative to `header` */
	uint64_t header, frames; /* where the two are */
	uint32_t entries;
};

/* Without tables, or without memory, it has none. */
void cfi_read(struct cfi *c, const struct elf_file *e);
void cfi_free(struct cfi *c);

/* The function, or part of one, that has this address. False: the tables have none. */
bool cfi_bounds(const struct cfi *c, uint64_t address, uint64_t *start, uint64_t *end);

/*
 * The registers of the caller of what runs at `address`, as in the file; r->value[CFI_RETURN] - bias is that, or the
 * address after it, behind a call. False: it cannot be known.
 */
bool cfi_step(const struct cfi *c, uint64_t address, uint64_t bias, const struct stack_copy *s, struct registers *r);
