/* SPDX-License-Identifier: MIT */
/* object.h - what is known of one ELF file whose code a program runs: its functions, and how to find their callers. */
#pragma once

#include "cfi.h"
#include "symbols.h"

struct object {
	struct object *next;
	char *path;	/* as the program's mappings name it: "[vdso]" is the kernel's */
	uint64_t inode; /* with the path, its identity */
	struct elf_file elf;
	struct symbols symbols;
	struct cfi cfi;
	bool found; /* it could be read */
};

struct objects {
	struct object *first;
};

/* The object, read when it is first asked for, through a process that has it mapped. NULL: no memory. */
struct object *objects_get(struct objects *all, const char *path, uint64_t inode, uint32_t pid);
void objects_free(struct objects *all);

/* One function, or a part of one, of an object. */
struct place {
	const struct object *object; /* NULL: code that is in no file */
	uint64_t start;		     /* the address that stands for it, in the file */
	const char *name;	     /* NULL: not known */
};

/* What is at an address (as in the file). Without a symbol it begins where the unwind tables say. */
struct place object_place(const struct object *o, uint64_t address);

/*
 * The function that evaluates Python's bytecode, or one of those that it is made of where they call each other by
 * jumps, or what calls these: the callers belong to other Python functions.
 */
bool place_is_interpreter(const struct place *p);
