/* SPDX-License-Identifier: MIT */
/* object.c - see object.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "object.h"

#define VDSO	  "[vdso]"
#define VDSO_SIZE 4096u /* what is mapped at least; its own headers say how much of that is used */

/* Ours is the program's: there is one in a kernel, and it is mapped completely. */
static int open_vdso(struct elf_file *e)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = image;

	if (!image)
		return -ENOENT;
	return elf_open_image(e, image, h->e_shoff ? h->e_shoff + (size_t)h->e_shnum * h->e_shentsize : VDSO_SIZE);
}

/* The program may be in another mount namespace. Another file may have the same name by now. */
static int open_mapped(struct elf_file *e, const struct object *o, uint32_t pid)
{
	char path[4200];
	struct stat st;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, o->path);
	err = elf_open(e, path);
	if (err)
		err = elf_open(e, o->path);
	if (err || !o->inode || (fstat(e->fd, &st) == 0 && st.st_ino == o->inode))
		return err;
	elf_close(e);
	return -ESTALE;
}

static void read_object(struct object *o, uint32_t pid)
{
	int err = strcmp(o->path, VDSO) ? -ENOENT : open_vdso(&o->elf);

	if (err && o->path[0] == '/')
		err = open_mapped(&o->elf, o, pid);
	if (err)
		return;
	o->found = true;
	symbols_read(&o->symbols, &o->elf);
	cfi_read(&o->cfi, &o->elf);
	if (o->elf.fd >= 0) /* its tables are enough from here on */
		elf_release(&o->elf);
}

struct object *objects_get(struct objects *all, const char *path, uint64_t inode, uint32_t pid)
{
	struct object *o = all->first;

	while (o && (o->inode != inode || strcmp(o->path, path)))
		o = o->next;
	if (o || !(o = calloc(1, sizeof(*o))))
		return o;
	o->elf.fd = -1;
	o->inode = inode;
	o->path = strdup(path);
	if (!o->path) {
		free(o);
		return NULL;
	}
	read_object(o, pid);
	o->next = all->first;
	return all->first = o;
}

void objects_free(struct objects *all)
{
	for (struct object *o = all->first, *next; o; o = next) {
		next = o->next;
		symbols_free(&o->symbols);
		cfi_free(&o->cfi);
		elf_close(&o->elf);
		free(o->path);
		free(o);
	}
	all->first = NULL;
}

struct place object_place(const struct object *o, uint64_t address)
{
	const struct symbol *s = symbols_find(&o->symbols, address);
	struct place p = { .object = o };
	uint64_t end;

	if (s)
		return (struct place){ o, s->start, s->name };
	cfi_bounds(&o->cfi, address, &p.start, &end);
	return p;
}

bool place_is_interpreter(const struct place *p)
{
	static const char *const names[] = { "_PyEval_EvalFrameDefault", "_TAIL_CALL_", "_PyEval_Vector" };
	bool is = false;

	for (size_t i = 0; p->name && i < sizeof(names) / sizeof(names[0]); i++)
		is |= !strncmp(p->name, names[i], strlen(names[i]));
	return is;
}
