/* SPDX-License-Identifier: MIT */
/* elf_file.c - see elf_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"

#define COUNT_MAX 65535u

void *elf_read(const struct elf_file *e, uint64_t offset, uint64_t size)
{
	void *bytes;

	if (!size || offset > e->size || size > e->size - offset || !(bytes = malloc(size)))
		return NULL;
	if (e->image)
		return memcpy(bytes, e->image + offset, size);
	for (uint64_t done = 0; done < size;) {
		ssize_t n = pread(e->fd, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));

		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		done += (uint64_t)n;
	}
	return bytes;
}

/* The GNU build id, if these are the notes that have it. */
static void take_notes(struct elf_file *e, const uint8_t *notes, size_t size)
{
	Elf64_Nhdr n;

	while (size >= sizeof(n)) {
		size_t name, desc;

		memcpy(&n, notes, sizeof(n));
		name = sizeof(n) + (((size_t)n.n_namesz + 3) & ~3ul);
		desc = ((size_t)n.n_descsz + 3) & ~3ul;
		if (name > size || desc > size - name)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + sizeof(n), "GNU", 4) &&
		    n.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(e->build_id, notes + name, n.n_descsz);
			e->build_id_size = n.n_descsz;
		}
		notes += name + desc;
		size -= name + desc;
	}
}

static void read_build_id(struct elf_file *e)
{
	for (size_t i = 0; i < e->nsegments && !e->build_id_size; i++) {
		const Elf64_Phdr *p = &e->segments[i];
		uint8_t *notes = p->p_type == PT_NOTE ? elf_read(e, p->p_offset, p->p_filesz) : NULL;

		if (notes)
			take_notes(e, notes, p->p_filesz);
		free(notes);
	}
}

static bool is_ours(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum < COUNT_MAX;
}

static int read_tables(struct elf_file *e)
{
	Elf64_Ehdr *h = elf_read(e, 0, sizeof(*h));
	bool ours = h && is_ours(h);

	if (ours) {
		e->nsegments = h->e_phnum;
		e->segments = elf_read(e, h->e_phoff, h->e_phnum * sizeof(*e->segments));
		e->nsections = h->e_shentsize == sizeof(*e->sections) ? h->e_shnum : 0;
		e->sections = elf_read(e, h->e_shoff, e->nsections * sizeof(*e->sections));
	}
	free(h);
	if (!e->sections)
		e->nsections = 0;
	if (!e->segments) {
		elf_close(e);
		return -ENOEXEC;
	}
	read_build_id(e);
	return 0;
}

int elf_open(struct elf_file *e, const char *path)
{
	struct stat st;

	*e = (struct elf_file){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (e->fd < 0)
		return -errno;
	if (fstat(e->fd, &st) || !S_ISREG(st.st_mode)) {
		elf_close(e);
		return -ENOEXEC;
	}
	e->size = (uint64_t)st.st_size;
	return read_tables(e);
}

int elf_open_image(struct elf_file *e, const void *image, size_t size)
{
	*e = (struct elf_file){ .fd = -1, .image = image, .size = size };
	return read_tables(e);
}

void elf_release(struct elf_file *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	e->size = 0;
}

void elf_close(struct elf_file *e)
{
	elf_release(e);
	free(e->segments);
	free(e->sections);
	*e = (struct elf_file){ .fd = -1 };
}

bool elf_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		const Elf64_Phdr *p = &e->segments[i];

		if (p->p_type != PT_LOAD || offset < p->p_offset || offset - p->p_offset >= p->p_filesz)
			continue;
		/* A page may be in two segments; the one that runs is meant. */
		*address = offset - p->p_offset + p->p_vaddr;
		if (p->p_flags & PF_X)
			return true;
	}
	return false;
}

const Elf64_Phdr *elf_segment(const struct elf_file *e, uint64_t address)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		const Elf64_Phdr *p = &e->segments[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
			return p;
	}
	return NULL;
}
