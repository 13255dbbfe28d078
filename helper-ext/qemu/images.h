/* SPDX-License-Identifier: MIT */
/*
 * images.h - which files' code is mapped where in the emulated program: decoders that follow the branches of a trace
 * read the code from these files.
 */
#pragma once

#include <stdint.h>

#include "settings.h"
#include "side.h"

/* All inform `set` too, whose ranges may wait for the file. */

/* The program and its ELF interpreter, which QEMU mapped itself before anything ran. */
void images_first(const struct side *s, struct settings *set, const char *program);

/* The program mapped descriptor fd, executable. */
void images_mapped(const struct side *s, struct settings *set, uint64_t start, uint64_t size, int fd, uint64_t offset);

/* Path of the emulated program, of QEMU's own command line; "" if it is not known. `size` > 0. */
void images_program(char *path, uint64_t size);
