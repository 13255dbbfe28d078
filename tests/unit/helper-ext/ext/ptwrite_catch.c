/* SPDX-License-Identifier: MIT */
/*
 * ptwrite_catch.c - for LD_PRELOAD: PTWRITE where there is none. Claims CPUID leaf 14H, and catches
 * each PTWRITE of a register in the library that asks, which it does before its first: {tid, word}
 * goes to the file $PTWRITE_CATCH. With PTWRITE_CATCH_CPUID=pt there is Intel PT but no PTWRITE.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ptwrite_site.h"

void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]) __attribute__((visibility("default")));

static int out = -1;

void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	const char *limit = getenv("PTWRITE_CATCH_CPUID");

	(void)subleaf;
	if (out >= 0)
		ptwrite_catch(__builtin_return_address(0));
	memset(regs, 0, 4 * sizeof(*regs));
	if (leaf == 0)
		regs[0] = 0x15;
	if (leaf == 7)
		regs[1] = 1u << 25;
	if (leaf == 0x14 && !limit)
		regs[1] = 1u << 4;
}

static void caught(int sig, siginfo_t *info, void *context)
{
	struct {
		uint64_t tid, word;
	} record;

	(void)info;
	if (!ptwrite_caught(context, &record.word)) {
		signal(sig, SIG_DFL);
		return;
	}
	record.tid = (uint64_t)syscall(SYS_gettid);
	if (write(out, &record, sizeof(record)) != sizeof(record))
		abort();
}

static __attribute__((constructor)) void begin(void)
{
	struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };
	const char *path = getenv("PTWRITE_CATCH");

	if (!path)
		return;
	out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	sigaction(SIGILL, &action, NULL);
}
