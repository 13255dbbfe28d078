/* SPDX-License-Identifier: MIT */
/* symbol.c - see symbol.h. A file may be anything: everything in it is checked against its size. */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol.h"

struct image {
	const uint8_t *bytes;
	size_t size;
};

static const void *part(const struct image *im, uint64_t offset, uint64_t size)
{
	return offset <= im->size && size <= im->size - offset ? im->bytes + offset : NULL;
}

/* Tables of 64-bit ELF are at multiples of 8; this ignores others. */
static const void *table_at(const struct image *im, uint64_t offset, uint64_t size)
{
	return offset % 8 ? NULL : part(im, offset, size);
}

static int image_open(struct image *im, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	im->bytes = MAP_FAILED;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		im->size = st.st_size;
		im->bytes = mmap(NULL, im->size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return im->bytes == MAP_FAILED ? -1 : 0;
}

static const Elf64_Ehdr *header(const struct image *im)
{
	const Elf64_Ehdr *h = part(im, 0, sizeof(*h));

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	return h;
}

/* From an address in the file's own terms to an offset in the file; 0: in no segment. */
static uint64_t file_offset(const struct image *im, const Elf64_Ehdr *h, uint64_t address)
{
	const Elf64_Phdr *p = table_at(im, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*p));

	for (int i = 0; p && i < h->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address - p[i].p_vaddr < p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	return 0;
}

static bool is_named(const struct image *im, const Elf64_Shdr *strings, uint32_t at, const char *name)
{
	size_t n = strlen(name) + 1;
	const char *text = at < strings->sh_size && n <= strings->sh_size - at ? part(im, strings->sh_offset + at, n)
									       : NULL;

	return text && !memcmp(text, name, n);
}

static uint64_t find_in(const struct image *im, const Elf64_Shdr *table, const Elf64_Shdr *strings, const char *name)
{
	const Elf64_Sym *s = table_at(im, table->sh_offset, table->sh_size);

	for (uint64_t i = 0; s && i < table->sh_size / sizeof(*s); i++)
		if (ELF64_ST_TYPE(s[i].st_info) == STT_FUNC && s[i].st_shndx != SHN_UNDEF &&
		    is_named(im, strings, s[i].st_name, name))
			return s[i].st_value;
	return 0;
}

static uint64_t image_find(const struct image *im, const char *name)
{
	const Elf64_Ehdr *h = header(im);
	const Elf64_Shdr *s = h ? table_at(im, h->e_shoff, (uint64_t)h->e_shnum * sizeof(*s)) : NULL;
	uint64_t address = 0;

	for (int i = 0; s && !address && i < h->e_shnum; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) && s[i].sh_link < h->e_shnum)
			address = find_in(im, &s[i], &s[s[i].sh_link], name);
	return address ? file_offset(im, h, address) : 0;
}

uint64_t symbol_offset(const char *path, const char *name)
{
	struct image im;
	uint64_t offset;

	if (image_open(&im, path) < 0)
		return 0;
	offset = image_find(&im, name);
	munmap((void *)im.bytes, im.size);
	return offset;
}

static bool is_object(const char *path, const char *object)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = object ? strlen(object) : 0;

	return !object || (!strncmp(name, object, n) && (!name[n] || name[n] == '.'));
}

struct mapping {
	uint64_t start, end, offset;
	char flags[8];
	char path[PATH_MAX];
};

static bool read_mapping(FILE *f, struct mapping *m)
{
	char line[PATH_MAX + 128];
	int at = 0;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->start, &m->end, m->flags,
			   &m->offset, &at) < 4 ||
		    line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(m->path, sizeof(m->path), "%s", line + at);
		return true;
	}
	return false;
}

/* The process may have another root folder (a container). */
static uint64_t offset_in(uint32_t pid, const char *file, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, file);
	return symbol_offset(path, name);
}

uint64_t symbol_find(uint32_t pid, const char *object, const char *name)
{
	char path[32], looked_at[PATH_MAX] = "";
	uint64_t address = 0, offset = 0;
	struct mapping m;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !address && read_mapping(f, &m)) {
		if (!is_object(m.path, object))
			continue;
		if (strcmp(looked_at, m.path)) {
			strcpy(looked_at, m.path);
			offset = offset_in(pid, m.path, name);
		}
		if (offset && m.flags[2] == 'x' && offset >= m.offset && offset - m.offset < m.end - m.start)
			address = m.start + (offset - m.offset);
	}
	if (f)
		fclose(f);
	return address;
}
