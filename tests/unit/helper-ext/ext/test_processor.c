/* SPDX-License-Identifier: MIT */
/* test_processor.c - what CPUID and the kernel's folder say, from tables; the test has its own CPUID. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "ext/arch/x86_64/cpuid.h"
#include "ext/processor.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct cpu {
	uint32_t leaves, leaf7_ebx, leaf14_ebx;
	uint32_t leaf15[4];
} cpu;

void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	assert_int_equal(subleaf, 0);
	assert_true(leaf <= cpu.leaves);
	memset(regs, 0, 4 * sizeof(*regs));
	if (leaf == 0)
		regs[0] = cpu.leaves;
	if (leaf == 7)
		regs[1] = cpu.leaf7_ebx;
	if (leaf == 0x14)
		regs[1] = cpu.leaf14_ebx;
	if (leaf == 0x15)
		memcpy(regs, cpu.leaf15, sizeof(cpu.leaf15));
}

#define PT  (1u << 25)
#define PTW (1u << 4)

static void test_leaves(void **state)
{
	static const struct {
		struct cpu cpu;
		bool pt, ptwrite;
	} rows[] = {
		{ { 4, 0, 0, { 0 } }, false, false },
		{ { 0x16, 0, PTW, { 0 } }, false, false }, /* the leaf is not to be believed */
		{ { 7, PT, PTW, { 0 } }, true, false },	   /* nor is one beyond the last */
		{ { 0x14, PT, 0, { 0 } }, true, false },   /* Skylake */
		{ { 0x14, ~PT, ~0u, { 0 } }, false, false },
		{ { 0x14, PT, ~PTW, { 0 } }, true, false },
		{ { 0x16, PT, PTW, { 0 } }, true, true },
	};
	struct processor p;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		cpu = rows[i].cpu;
		processor_look(&p, "/nowhere/intel_pt");
		assert_int_equal(p.pt, rows[i].pt);
		assert_int_equal(p.ptwrite, rows[i].ptwrite);
		assert_false(p.kernel || p.kernel_ptwrite);
	}
}

static void make(const char *folder, const char *cap, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/caps", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/caps/%s", folder, cap);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_kernel(void **state)
{
	static const struct {
		const char *text;
		bool ptwrite;
	} rows[] = { { "1\n", true }, { "0\n", false }, { "", false }, { "1", true } };
	char folder[] = "/tmp/ocular-pmu-XXXXXX", path[512];
	struct processor p;

	(void)state;
	assert_non_null(mkdtemp(folder));
	processor_look(&p, folder);
	assert_true(p.kernel);
	assert_false(p.kernel_ptwrite); /* no such cap: an old kernel */
	for (size_t i = 0; i < COUNT(rows); i++) {
		make(folder, "ptwrite", rows[i].text);
		processor_look(&p, folder);
		assert_int_equal(p.kernel_ptwrite, rows[i].ptwrite);
	}
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

/* Where the kernel tells, it is right within what two crystals differ by; so leaf 15H is not asked. */
static void test_tsc(void **state)
{
	struct processor kernel, p;

	(void)state;
	cpu = (struct cpu){ .leaves = 7 };
	processor_look(&kernel, "/nowhere/intel_pt");
	cpu = (struct cpu){ .leaves = 0x15, .leaf15 = { 2, 176, 24000000, 0 } };
	processor_look(&p, "/nowhere/intel_pt");
	assert_int_equal(p.tsc_hz, kernel.tsc_hz ? kernel.tsc_hz : 2112000000);
	cpu.leaf15[0] = 0; /* not told: no division by it */
	processor_look(&p, "/nowhere/intel_pt");
	assert_int_equal(p.tsc_hz, kernel.tsc_hz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_tsc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
