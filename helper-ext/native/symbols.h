/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the functions of an ELF file by address: from its .symtab, else from that of its debug file where one is
 * installed (/usr/lib/debug/.build-id), else those that it exports (.dynsym).
 */
#pragma once

#include "elf_file.h"

struct symbol {
	uint64_t start, end; /* addresses as in the file */
	const char *name;
};

struct symbols {
	struct symbol *all; /* ascending */
	size_t n;
	char *names;
};

/* Without any, or without memory, it has none. */
void symbols_read(struct symbols *s, const struct elf_file *e);
void symbols_free(struct symbols *s);

/* The function that has this address; NULL: not known. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);
