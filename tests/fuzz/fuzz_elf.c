// SPDX-License-Identifier: MIT
/*
 * fuzz_elf.c - any bytes as a library that a traced program has mapped: its functions are found, and from each of them
 * the way to a caller, without a fault.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "mutator.h"
#include "native/cfi.h"
#include "native/symbols.h"

#define FUNCTIONS_MOST 64 /* that are looked at */
#define STACK	       0x7ffd00000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool held)
{
	if (!held)
		abort();
}

static void look_up(const struct symbols *s)
{
	for (size_t i = 0; i < s->n && i < FUNCTIONS_MOST; i++) {
		const struct symbol *found = symbols_find(s, s->all[i].start);

		check(strlen(s->all[i].name) < SIZE_MAX);
		check(s->all[i].end <= s->all[i].start || found == &s->all[i]);
	}
}

/* From an address in the file; the registers and the stack have places of the stack, and anything. */
static void step(const struct cfi *c, uint64_t address)
{
	uint64_t words[32];
	const struct stack_copy stack = { STACK, (const uint8_t *)words, sizeof(words) };
	struct registers r = { .value = { [CFI_RBP] = STACK + 64, [CFI_RSP] = STACK + 16, [CFI_RETURN] = address } };
	uint64_t start, end;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = i & 1 ? STACK + 8 * i : address + i;
	if (cfi_bounds(c, address, &start, &end))
		check(start <= address && address < end);
	cfi_step(c, address, 0, &stack, &r);
}

static void step_from_all(const struct cfi *c)
{
	for (uint32_t i = 0; i < c->entries && i < FUNCTIONS_MOST; i++) {
		int32_t offset;

		memcpy(&offset, c->bytes + c->table + 8 * i, sizeof(offset));
		for (int at = 0; at < 32; at += 5)
			step(c, c->header + (uint64_t)(int64_t)offset + at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbols symbols;
	struct elf_file e;
	struct cfi cfi;
	uint64_t address;

	if (elf_open_image(&e, data, size))
		return 0;
	symbols_read(&symbols, &e);
	look_up(&symbols);
	cfi_read(&cfi, &e);
	step_from_all(&cfi);
	if (elf_address(&e, size / 2, &address))
		step(&cfi, address);
	cfi_free(&cfi);
	symbols_free(&symbols);
	elf_close(&e);
	return 0;
}

/* --- changes ------------------------------------------------------------------------------------------ */

static void change_segments(struct mutated *m)
{
	const Elf64_Ehdr *h = (const void *)m->bytes;

	mutator_change_field(m, h->e_phoff, h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr));
}

static void change_sections(struct mutated *m)
{
	const Elf64_Ehdr *h = (const void *)m->bytes;

	mutator_change_field(m, h->e_shoff, h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr));
}

/* An instruction of the unwind tables: what it does, a register, the largest number (DWARF 5, 6.4.2 and 7.6). */
static void put_instruction(struct mutated *m, size_t at)
{
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	size_t n = mutator_draw(m, 2) ? sizeof(most) : 1;

	if (at + 2 + n > m->size)
		return;
	m->bytes[at] = mutator_draw(m, 0x17);
	m->bytes[at + 1] = mutator_draw(m, CFI_REGISTERS);
	memcpy(m->bytes + at + 2, most + sizeof(most) - n, n);
}

/* In the unwind tables, which are behind their header. */
static void change_unwinding(struct mutated *m)
{
	const Elf64_Ehdr *h = (const void *)m->bytes;
	Elf64_Phdr p;

	for (size_t i = 0; i < h->e_phnum && h->e_phoff < m->size && (m->size - h->e_phoff) / sizeof(p) > i; i++) {
		memcpy(&p, m->bytes + h->e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_GNU_EH_FRAME || p.p_offset >= m->size)
			continue;
		for (unsigned n = 1 + mutator_draw(m, 8); n; n--) {
			size_t at = p.p_offset + mutator_draw(m, 512);

			if (mutator_draw(m, 2))
				put_instruction(m, at);
			else if (at < m->size)
				m->bytes[at] = mutator_draw(m, 256);
		}
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static void (*const ways[])(struct mutated * m) = { change_segments, change_sections, change_unwinding,
							    change_unwinding };
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };

	if (size < 16 * sizeof(Elf64_Phdr) || !mutator_draw(&m, 6))
		return LLVMFuzzerMutate(data, size, max_size);
	ways[mutator_draw(&m, sizeof(ways) / sizeof(ways[0]))](&m);
	return m.size;
}
