/* SPDX-License-Identifier: MIT */
/*
 * test_ptwrite.c - the word arrives, whatever bits it has. The instruction is caught as SIGILL
 * (ptwrite_site.h). The emulated one is single-stepped, and read as perf does: a jump over 16
 * bytes, the magic behind it, then the outcomes of the next 64 conditional jumps.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <cmocka.h>

#include "ext/arch/x86_64/ptwrite.h"
#include "ptwrite_site.h"

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define TRAP_FLAG 0x100u
#define CARRY	  1u

static const uint64_t words[] = {
	0, 1, UINT64_MAX, 1ull << 63, 0x0123456789abcdef, 0xfedcba9876543210, 0xaaaaaaaaaaaaaaaa, 0x5555555555555555,
};

static const uint8_t magic[16] = "\x0f\x0bperf,ptwrite  ";

static struct {
	bool on, started;
	unsigned bits;
	uint64_t word;
} steps;

static bool jumps_to_magic(const uint8_t *ip)
{
	return ip[0] == 0xeb && ip[1] == sizeof(magic) && !memcmp(ip + 2, magic, sizeof(magic));
}

static void step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *ip = (const uint8_t *)regs[REG_RIP];

	(void)sig;
	(void)info;
	if (jumps_to_magic(ip))
		steps.started = true;
	else if (steps.started && ip[0] >= 0x70 && ip[0] <= 0x7f && steps.bits < 64) {
		assert_int_equal(ip[0], 0x72); /* JC: taken if the carry is set */
		steps.word = steps.word << 1 | (regs[REG_EFL] & CARRY);
		steps.bits++;
	}
	if (!steps.on)
		regs[REG_EFL] &= ~TRAP_FLAG;
}

static void step_flag(void)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "cc", "memory");
}

static void test_emulated(void **state)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO }, before;

	(void)state;
	sigaction(SIGTRAP, &action, &before);
	for (size_t i = 0; i < COUNT(words); i++) {
		memset(&steps, 0, sizeof(steps));
		steps.on = true;
		step_flag();
		ptwrite_emulated(words[i]);
		steps.on = false;
		__asm__ volatile("nop" : : : "memory");
		assert_int_equal(steps.bits, 64);
		assert_int_equal(steps.word, words[i]);
	}
	sigaction(SIGTRAP, &before, NULL);
}

static uint64_t caught;
static unsigned catches;

/* The compiler may take any register: this one reads those that it takes. */
static void catch (int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (!ptwrite_caught(context, &caught))
		abort();
	catches++;
}

static void test_instruction(void **state)
{
	struct sigaction action = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO }, before;

	(void)state;
	ptwrite_catch((void *)test_instruction);
	sigaction(SIGILL, &action, &before);
	for (size_t i = 0; i < COUNT(words); i++) {
		ptwrite(words[i]);
		assert_int_equal(catches, 2 * i + 1);
		assert_int_equal(caught, words[i]);
		ptwrite_short((uint32_t)words[i]);
		assert_int_equal(catches, 2 * i + 2);
		assert_int_equal(caught, (uint32_t)words[i]);
	}
	sigaction(SIGILL, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
