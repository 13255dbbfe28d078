/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - our own stack, taken in the middle of a comparison of lfind(3), against the compiler's unwinder; and
 * that damaged files end a stack and nothing else.
 */
#include <execinfo.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/unwind.h"

#define STACK 8192u

static struct {
	struct registers registers;
	uint8_t bytes[STACK];
	struct stack_copy stack;
	void *witness[UNWIND_MOST];
	int n;
} taken;

#ifdef __x86_64__
/* In the order of DWARF's numbers. */
static const int greg[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
			    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

/* main() may be near the end of its stack. */
static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	size_t size;
	void *start;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &start, &size);
	pthread_attr_destroy(&attr);
	return (uint64_t)(uintptr_t)start + size;
}

/* A sanitizer knows that not all of it belongs to us. */
static __attribute__((noinline, no_sanitize_address)) void copy_stack(void)
{
	for (size_t i = 0; i < taken.stack.size; i++)
		taken.bytes[i] = ((const volatile uint8_t *)taken.stack.address)[i];
}

static __attribute__((noinline)) void take(void)
{
	ucontext_t u;

	taken.n = backtrace(taken.witness, UNWIND_MOST);
	assert_int_equal(getcontext(&u), 0);
	for (int i = 0; i < CFI_REGISTERS; i++)
		taken.registers.value[i] = (uint64_t)u.uc_mcontext.gregs[greg[i]];
	taken.stack = (struct stack_copy){ taken.registers.value[CFI_RSP], taken.bytes, STACK };
	if (taken.stack.size > stack_end() - taken.stack.address)
		taken.stack.size = stack_end() - taken.stack.address;
	copy_stack();
}
#else
static void take(void)
{
	skip();
}
#endif

static __attribute__((noinline)) int compare_and_take(const void *a, const void *b)
{
	if (!taken.n)
		take();
	return *(const int *)a - *(const int *)b;
}

/* Where the compiler's unwinder was after so many functions. */
static struct place witness(const struct space *s, int i)
{
	uint64_t pc = (uint64_t)(uintptr_t)taken.witness[i] - 1, address;
	struct mapping *m = space_find(s, pc);

	if (!m || !m->object || !elf_address(&m->object->elf, pc - m->start + m->offset, &address))
		return (struct place){ 0 };
	return object_place(m->object, address);
}

static void test_like_the_compilers(void **state)
{
	struct place places[UNWIND_MOST];
	struct objects objects = { 0 };
	struct space s = { 0 };
	int numbers[] = { 3, 1, 2 };
	size_t size = 3;
	bool misses = false;
	int first = 0;
	size_t n;

	(void)state;
	assert_ptr_equal(lfind(&numbers[2], numbers, &size, sizeof(int), compare_and_take), &numbers[2]);
	assert_int_equal(space_read(&s, (uint32_t)getpid()), 0);
	n = unwind(&objects, &s, taken.registers, &taken.stack, places, &misses);
	assert_false(misses);
	assert_true(n >= 5 && n <= (size_t)taken.n);
	assert_string_equal(places[0].name, "take");
	assert_string_equal(places[1].name, "compare_and_take");
	while (first < taken.n &&
	       witness(&s, first).start != places[1].start) /* a sanitizer's own function is before */
		first++;
	for (size_t i = 1; i < n; i++) {
		struct place there = witness(&s, first + (int)i - 1);

		assert_ptr_equal(there.object, places[i].object);
		assert_int_equal(there.start, places[i].start);
	}
	space_free(&s);
	objects_free(&objects);
}

static void test_an_unknown_address(void **state)
{
	const struct stack_copy nothing = { 0 };
	const struct registers r = { .value[CFI_RETURN] = 0x1234 };
	struct place places[UNWIND_MOST];
	struct objects objects = { 0 };
	struct space s = { 0 };
	bool misses = false;

	(void)state;
	assert_int_equal(unwind(&objects, &s, r, &nothing, places, &misses), 1);
	assert_true(misses);
	assert_null(places[0].object);
	assert_null(places[0].name);
}

static void *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	void *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size);
	assert_int_equal(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

/* Nothing here may crash, loop or be reported by a sanitizer. */
static void test_damaged_files(void **state)
{
	const struct stack_copy stack = { 0x1000, taken.bytes, STACK };
	size_t size;
	uint8_t *whole = read_all("/proc/self/exe", &size);
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct registers r = { .value[CFI_RSP] = 0x1010 };
		uint8_t *bytes = malloc(size);
		struct object o = { 0 };

		memcpy(bytes, whole, size);
		for (int i = 0; i < 1 << (round % 12); i++)
			bytes[(size_t)rand_r(&seed) % (round % 2 ? size : 4096)] = (uint8_t)rand_r(&seed);
		if (elf_open_image(&o.elf, bytes, round % 3 ? size : size - (size_t)rand_r(&seed) % size) == 0) {
			symbols_read(&o.symbols, &o.elf);
			cfi_read(&o.cfi, &o.elf);
			for (uint64_t at = 0; at < 0x20000; at += 0x101) {
				struct registers next = r;

				object_place(&o, at);
				cfi_step(&o.cfi, at, 0, &stack, &next);
			}
			symbols_free(&o.symbols);
			cfi_free(&o.cfi);
			elf_close(&o.elf);
		}
		free(bytes);
	}
	free(whole);
}

/* Tables of one function, at 0x1100: of header, CIE and FDE. What its caller's return address is, is in `rule`. */
struct tables {
	int32_t start, fde;
	uint32_t common_length, id;
	uint8_t common[16];
	uint32_t length, to_common;
	uint64_t first, size;
	uint8_t rule[16];
} __attribute__((packed));

static uint64_t return_address(const uint8_t *rule, size_t n)
{
	/* Version 1, no augmentation, factors 1 and -8, register 16; the CFA is rsp + 8. */
	struct tables t = { .start = 0x100,
			    .fde = offsetof(struct tables, length),
			    .common_length = sizeof(t.id) + sizeof(t.common),
			    .common = { 1, 0, 1, 0x78, 16, 0x0c, CFI_RSP, 8 },
			    .length = sizeof(t) - offsetof(struct tables, to_common),
			    .to_common = offsetof(struct tables, to_common) - offsetof(struct tables, common_length),
			    .first = 0x1100,
			    .size = 0x10 };
	const struct cfi c = { (uint8_t *)&t, .address = 0x1000, .size = sizeof(t), .header = 0x1000, .entries = 1 };
	const struct stack_copy stack = { 0x8000, taken.bytes, STACK };
	struct registers r = { .value = { [CFI_RBP] = 77, [CFI_RSP] = 0x8000, [CFI_RETURN] = 0x1105 } };

	memcpy(t.rule, rule, n);
	assert_true(cfi_step(&c, 0x1105, 0, &stack, &r));
	assert_int_equal(r.value[CFI_RSP], 0x8008);
	return r.value[CFI_RETURN];
}

/* A register is read that there is; a factor that leads beyond 64 bits is a wrong place, and nothing else. */
static void test_numbers_without_sense(void **state)
{
	const uint8_t in_rbp[] = { 0x09, 16, CFI_RBP }, in_none[] = { 0x09, 16, CFI_REGISTERS };
	const uint8_t before_all[] = { 0x09, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	const uint8_t far[] = { 0x14, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };

	(void)state;
	assert_int_equal(return_address(in_rbp, sizeof(in_rbp)), 77);
	assert_int_equal(return_address(in_none, sizeof(in_none)), 0);
	assert_int_equal(return_address(before_all, sizeof(before_all)), 0);
	assert_int_equal(return_address(far, sizeof(far)), 0x8010);
}

static void test_the_vdso_has_names(void **state)
{
	struct objects objects = { 0 };
	struct object *o = objects_get(&objects, "[vdso]", 0, (uint32_t)getpid());
	bool found = false;

	(void)state;
	assert_non_null(o);
	if (!o->found)
		skip(); /* a kernel without one */
	for (size_t i = 0; i < o->symbols.n; i++)
		found |= strstr(o->symbols.all[i].name, "clock_gettime") != NULL;
	assert_true(found);
	objects_free(&objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_the_compilers), cmocka_unit_test(test_an_unknown_address),
		cmocka_unit_test(test_damaged_files),	   cmocka_unit_test(test_numbers_without_sense),
		cmocka_unit_test(test_the_vdso_has_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
