/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - parts of an ELF file of this machine's kind (64 bits), read and never mapped: a file that shrinks while
 * it is mapped would kill us. Nothing in it is trusted.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 32u

struct elf_file {
	int fd;		      /* -1: `image` instead */
	const uint8_t *image; /* in memory, of `size`: the vDSO */
	uint64_t size;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	size_t nsegments, nsections;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_size; /* 0: it has none */
};

/* Opens a file, or one in memory. 0, or -ENOEXEC: it is not an ELF file; or open(2)'s error. */
int elf_open(struct elf_file *e, const char *path);
int elf_open_image(struct elf_file *e, const void *image, size_t size);
void elf_close(struct elf_file *e);

/* Its file is not read any more; what is known stays. */
void elf_release(struct elf_file *e);

/* So many bytes from an offset on, to be freed; NULL: there are not so many, or no memory. */
void *elf_read(const struct elf_file *e, uint64_t offset, uint64_t size);

/* Where a byte of the file is in memory, relative to where the file says it is loaded. False: it is not loaded. */
bool elf_address(const struct elf_file *e, uint64_t offset, uint64_t *address);

/* The loaded segment that has an address; NULL: none. */
const Elf64_Phdr *elf_segment(const struct elf_file *e, uint64_t address);
