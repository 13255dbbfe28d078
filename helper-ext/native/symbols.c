/* SPDX-License-Identifier: MIT */
/* symbols.c - see symbols.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id/"

static const Elf64_Shdr *find_section(const struct elf_file *e, uint32_t type)
{
	for (size_t i = 0; i < e->nsections; i++)
		if (e->sections[i].sh_type == type && e->sections[i].sh_entsize == sizeof(Elf64_Sym) &&
		    e->sections[i].sh_link < e->nsections)
			return &e->sections[i];
	return NULL;
}

/* Of several names for one address the last one is shown: exported rather than local ones, longer functions last. */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return strcmp(y->name, x->name);
}

/* One of no size, as assembler code has them, ends where the next one begins. */
static void sort(struct symbols *s)
{
	size_t n = 0;

	qsort(s->all, s->n, sizeof(*s->all), compare);
	for (size_t i = 0; i < s->n; i++) {
		if (i + 1 < s->n && s->all[i + 1].start == s->all[i].start)
			continue;
		s->all[n] = s->all[i];
		if (s->all[n].end == s->all[n].start && i + 1 < s->n)
			s->all[n].end = s->all[i + 1].start;
		n++;
	}
	s->n = n;
}

static bool is_function(const Elf64_Sym *y, uint64_t names)
{
	unsigned type = ELF64_ST_TYPE(y->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && y->st_shndx != SHN_UNDEF && y->st_name &&
	       y->st_name < names;
}

static void take(struct symbols *s, const Elf64_Sym *table, size_t n, uint64_t names)
{
	for (size_t i = 0; i < n; i++) {
		const Elf64_Sym *y = &table[i];

		if (is_function(y, names))
			s->all[s->n++] = (struct symbol){ y->st_value, y->st_value + y->st_size,
							  s->names + y->st_name };
	}
	sort(s);
}

static bool read_table(struct symbols *s, const struct elf_file *e, uint32_t type)
{
	const Elf64_Shdr *h = find_section(e, type), *names = h ? &e->sections[h->sh_link] : NULL;
	Elf64_Sym *table = h ? elf_read(e, h->sh_offset, h->sh_size) : NULL;
	size_t n = h ? h->sh_size / sizeof(*table) : 0;

	s->names = table ? elf_read(e, names->sh_offset, names->sh_size) : NULL;
	s->all = s->names ? calloc(n, sizeof(*s->all)) : NULL;
	if (s->all) {
		s->names[names->sh_size - 1] = '\0';
		take(s, table, n, names->sh_size);
	}
	free(table);
	if (!s->n)
		symbols_free(s);
	return s->n;
}

static bool read_debug_file(struct symbols *s, const struct elf_file *e)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * ELF_BUILD_ID_MAX + sizeof("/.debug")] = DEBUG_FOLDER;
	char *at = path + strlen(path);
	struct elf_file debug;
	bool found = false;

	for (size_t i = 0; i < e->build_id_size; i++)
		at += sprintf(at, i == 1 ? "/%02x" : "%02x", e->build_id[i]);
	strcpy(at, ".debug");
	if (!e->build_id_size || elf_open(&debug, path))
		return false;
	if (debug.build_id_size == e->build_id_size && !memcmp(debug.build_id, e->build_id, e->build_id_size))
		found = read_table(s, &debug, SHT_SYMTAB);
	elf_close(&debug);
	return found;
}

void symbols_read(struct symbols *s, const struct elf_file *e)
{
	*s = (struct symbols){ 0 };
	if (!read_table(s, e, SHT_SYMTAB) && !read_debug_file(s, e))
		read_table(s, e, SHT_DYNSYM);
}

void symbols_free(struct symbols *s)
{
	free(s->all);
	free(s->names);
	*s = (struct symbols){ 0 };
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < s->all[low - 1].end ? &s->all[low - 1] : NULL;
}
