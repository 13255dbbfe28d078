/* SPDX-License-Identifier: MIT */
/*
 * ptwrite_catch.c - for LD_PRELOAD: PTWRITE where there is none. Claims CPUID leaf 14H, and catches
 * the SIGILL of each PTWRITE of a register: {tid, word} goes to the file $PTWRITE_CATCH. With
 * PTWRITE_CATCH_CPUID=pt there is Intel PT but no PTWRITE.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
	__attribute__((visibility("default")));

static const int registers[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				   REG_R12, REG_R13, REG_R14, REG_R15 };
static int out = -1;

void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	const char *limit = getenv("PTWRITE_CATCH_CPUID");

	(void)subleaf;
	memset(regs, 0, 4 * sizeof(*regs));
	if (leaf == 0)
		regs[0] = 0x15;
	if (leaf == 7)
		regs[1] = 1u << 25;
	if (leaf == 0x14 && !limit)
		regs[1] = 1u << 4;
}

/* F3 REX.W 0F AE /4 with a register: SDM volume 2. */
static void caught(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *ip = (const uint8_t *)regs[REG_RIP];
	struct {
		uint64_t tid, word;
	} record;

	(void)info;
	if (ip[0] != 0xf3 || (ip[1] & 0xf8) != 0x48 || ip[2] != 0x0f || ip[3] != 0xae ||
	    (ip[4] & 0xf8) != 0xe0) {
		signal(sig, SIG_DFL);
		return;
	}
	record.tid = (uint64_t)syscall(SYS_gettid);
	record.word = (uint64_t)regs[registers[(ip[4] & 7) | (ip[1] & 1) << 3]];
	if (write(out, &record, sizeof(record)) != sizeof(record))
		abort();
	regs[REG_RIP] += 5;
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
