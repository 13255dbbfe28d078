/* SPDX-License-Identifier: MIT */
/*
 * got.c - see got.h. Formats: System V ABI, "Dynamic Linking"; the machine's types of relocations: arch.h.
 *
 * The words may be in memory that the dynamic linker has made read-only (RELRO): it becomes writable for a moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "got.h"
#include "shared/array.h"

/* What of an object's dynamic section is needed. */
struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * tables[2]; /* calls (DT_JMPREL), all else (DT_RELA) */
	size_t sizes[2];	      /* in bytes */
	uintptr_t relro,
		relro_end; /* whole pages that are read-only: the linker leaves the last one as it is if it is not */
};

struct visit {
	struct got *got;
	const struct got_call *calls;
	size_t n;
	got_wanted wanted;
	size_t skipped;	  /* that many objects more */
	uint32_t letters; /* with which the names begin, by their lowest 5 bits */
	int err;
};

/* The dynamic linker has added the base already, except where the section is read-only. */
static uintptr_t address(const struct object *o, uintptr_t value)
{
	return value < o->base ? o->base + value : value;
}

static void read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			o->symbols = (const ElfW(Sym) *)address(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			o->names = (const char *)address(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_JMPREL)
			o->tables[0] = (const ElfW(Rela) *)address(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			o->sizes[0] = d->d_un.d_val;
		else if (d->d_tag == DT_RELA)
			o->tables[1] = (const ElfW(Rela) *)address(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			o->sizes[1] = d->d_un.d_val;
	}
}

static uintptr_t page_of(uintptr_t at)
{
	return at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static bool read_object(struct object *o, const struct dl_phdr_info *info)
{
	*o = (struct object){ .base = info->dlpi_addr };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC)
			read_dynamic(o, (const ElfW(Dyn) *)(o->base + p->p_vaddr));
		if (p->p_type != PT_GNU_RELRO)
			continue;
		o->relro = page_of(o->base + p->p_vaddr);
		o->relro_end = page_of(o->base + p->p_vaddr + p->p_memsz);
	}
	return o->symbols && o->names;
}

/* 0 or a negative errno: then the word is as it was. */
static int write_word(const struct object *o, void **at, void *value)
{
	uintptr_t word = (uintptr_t)at, page = page_of(word);
	bool sealed = word >= o->relro && word < o->relro_end;

	if (sealed && mprotect((void *)page, sizeof(value), PROT_READ | PROT_WRITE))
		return -errno;
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	if (sealed)
		mprotect((void *)page, sizeof(value), PROT_READ);
	return 0;
}

static const struct got_call *call_named(const struct visit *v, const char *name)
{
	if (!(v->letters >> (*name & 31) & 1))
		return NULL;
	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->calls[i].name, name))
			return &v->calls[i];
	return NULL;
}

static int take_word(struct visit *v, const struct object *o, void **at, void *to)
{
	struct got_slot slot = { at, __atomic_load_n(at, __ATOMIC_ACQUIRE), to };
	int err;

	if (slot.was == to)
		return 0;
	if (!ARRAY_ROOM(v->got->slots, v->got->n, v->got->room))
		return -ENOMEM;
	err = write_word(o, at, to);
	if (!err)
		v->got->slots[v->got->n++] = slot;
	return err;
}

static bool could_write(const struct dl_phdr_info *info, uintptr_t at)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && at >= start && at - start < p->p_memsz)
			return true;
	}
	return false;
}

struct one {
	struct visit visit;
	void **at, *to;
};

static int take_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct one *one = arg;
	struct object o;

	(void)size;
	if (!could_write(info, (uintptr_t)one->at) || !read_object(&o, info))
		return 0;
	one->visit.err = take_word(&one->visit, &o, one->at, one->to);
	return 1;
}

int got_take_at(struct got *g, void **at, void *to)
{
	struct one one = { { .got = g }, at, to };

	return dl_iterate_phdr(take_one, &one) ? one.visit.err : -ENOENT;
}

static void take_table(struct visit *v, const struct object *o, const ElfW(Rela) * r, size_t bytes)
{
	for (const ElfW(Rela) *end = r + bytes / sizeof(*r); r < end; r++) {
		const struct got_call *call = NULL;
		int err;

		if (arch_calls_by(ELF64_R_TYPE(r->r_info)))
			call = call_named(v, o->names + o->symbols[ELF64_R_SYM(r->r_info)].st_name);
		if (!call)
			continue;
		err = take_word(v, o, (void **)(o->base + r->r_offset), call->to);
		v->err = v->err ? v->err : err;
	}
}

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *v = arg;
	struct object o;

	(void)size;
	if (v->skipped) {
		v->skipped--;
		return 0;
	}
	if (!v->wanted(info) || !read_object(&o, info))
		return 0;
	for (int i = 0; i < 2; i++)
		if (o.tables[i])
			take_table(v, &o, o.tables[i], o.sizes[i]);
	return 0;
}

/* The linker appends what it loads. */
int got_take(struct got *g, const struct got_call *calls, size_t n, got_wanted wanted, size_t skipped)
{
	struct visit v = { g, calls, n, wanted, skipped, 0, 0 };

	for (size_t i = 0; i < n; i++)
		v.letters |= 1u << (*calls[i].name & 31);
	dl_iterate_phdr(take_object, &v);
	return v.err ? v.err : (int)g->n;
}

bool got_has(const struct dl_phdr_info *info, uintptr_t word)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && word >= start && word - start < p->p_memsz)
			return true;
	}
	return false;
}

static int give_back_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct got *g = arg;
	struct object o;

	(void)size;
	if (!read_object(&o, info))
		return 0;
	/* The newest first: an older one at that place is of an object that was there before. */
	for (size_t i = g->n; i--;) {
		struct got_slot *s = &g->slots[i];

		if (got_has(info, (uintptr_t)s->at) && __atomic_load_n(s->at, __ATOMIC_ACQUIRE) == s->is)
			write_word(&o, s->at, s->was);
	}
	return 0;
}

void got_give_back(struct got *g)
{
	dl_iterate_phdr(give_back_object, g);
	free(g->slots);
	*g = (struct got){ 0 };
}
