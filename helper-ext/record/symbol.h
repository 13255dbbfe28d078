/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - finds a function of a library in a running process.
 *
 * From /proc/PID/maps and the symbol tables of the ELF files it names (System V gABI, chapter 4); 64-bit, of this
 * machine's byte order. The process itself does nothing.
 */
#pragma once

#include <stdint.h>

/*
 * The address of `name` in process pid. object: the file's name without folders, or its beginning up to
 * a dot ("libc" or "libc.so.6"); NULL: the first object that has it. 0: there is none (yet).
 */
uint64_t symbol_find(uint32_t pid, const char *object, const char *name);

/* The value of a function in an ELF file, as an offset in that file; 0: none. For symbol_find(). */
uint64_t symbol_offset(const char *path, const char *name);
