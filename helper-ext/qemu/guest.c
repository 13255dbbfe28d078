/* SPDX-License-Identifier: MIT */
/*
 * guest.c - preloaded into the emulated program: the PTWRITE instruction, which QEMU does not have.
 *
 * QEMU raises SIGILL for it. The handler finds the operand and passes it to the plugin; the plugin leaves all code of
 * this library out of the trace, so that it looks as if the instruction had been executed. SIGILL must reach us
 * whatever the program does with signals, and the plugin must know where the program was when another signal came: so
 * this library replaces sigaction() and its relatives.
 *
 * A program that a traced one executes runs natively at first. If it is a Python, it moves to the emulator here, before
 * its main(): whatever executed it, a shell or a #! line, need not know.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "guest.h"
#include "settings.h"

#define EXPORT	 __attribute__((visibility("default")))
#define NSIGNALS 65

static struct sigaction users[NSIGNALS]; /* the program's actions */

/* libc's, which ours replace. Constructors of other libraries may run before ours. */
static int real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static int (*real)(int, const struct sigaction *, struct sigaction *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	return real(sig, act, old);
}

static long call_plugin(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* --- PTWRITE ----------------------------------------------------------------------------------------- */

/* Number of a register in instructions -> in a ucontext. */
static const uint8_t register_of[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

struct ptwrite {
	const uint8_t *p; /* read so far */
	uint64_t segment; /* 0: no relevant one */
	uint8_t rex;
	uint64_t address; /* of a memory operand */
	bool relative;	  /* to the next instruction */
	bool in_memory;
	uint8_t reg;
};

static uint64_t read_register(const greg_t *regs, unsigned number)
{
	return (uint64_t)regs[register_of[number]];
}

static int64_t read_displacement(struct ptwrite *w, unsigned size)
{
	int64_t value = (int8_t)*w->p;
	int32_t wide;

	if (size == 4) {
		memcpy(&wide, w->p, sizeof(wide));
		value = wide;
	}
	w->p += size;
	return size ? value : 0;
}

/* Adds base and index of an SIB byte; returns whether a displacement of 4 stands for the base. */
static bool add_sib(struct ptwrite *w, const greg_t *regs, unsigned mod)
{
	uint8_t sib = *w->p++;
	unsigned index = (sib >> 3 & 7) | (w->rex & 2) << 2, base = (sib & 7) | (w->rex & 1) << 3;

	if (index != 4)
		w->address += read_register(regs, index) << (sib >> 6);
	if ((base & 7) == 5 && mod == 0)
		return true;
	w->address += read_register(regs, base);
	return false;
}

/* ModRM and what follows (SDM volume 2, 2.1.5, 2.2.1). */
static void read_operand(struct ptwrite *w, const greg_t *regs)
{
	uint8_t modrm = *w->p++;
	unsigned mod = modrm >> 6, rm = modrm & 7;
	unsigned size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	w->in_memory = mod != 3;
	w->reg = rm | (w->rex & 1) << 3;
	if (mod == 3)
		return;
	if (rm == 4) {
		size = add_sib(w, regs, mod) ? 4 : size;
	} else if (rm == 5 && mod == 0) {
		w->relative = true;
		size = 4;
	} else {
		w->address += read_register(regs, w->reg);
	}
	w->address += (uint64_t)read_displacement(w, size);
}

/* Is it F3 [REX] 0F AE /4? No compiler emits segment or address-size prefixes here. */
static bool read_ptwrite(struct ptwrite *w, const greg_t *regs)
{
	if (*w->p++ != 0xf3)
		return false;
	if (*w->p >> 4 == 4)
		w->rex = *w->p++;
	if (w->p[0] != 0x0f || w->p[1] != 0xae || (w->p[2] >> 3 & 7) != 4)
		return false;
	w->p += 2;
	read_operand(w, regs);
	return true;
}

static uint64_t operand(const struct ptwrite *w, const greg_t *regs)
{
	uint64_t at = w->address + (w->relative ? (uint64_t)(uintptr_t)w->p : 0), value;

	value = w->in_memory ? *(const uint64_t *)(uintptr_t)at : read_register(regs, w->reg);
	return w->rex & 8 ? value : (uint32_t)value;
}

/* An illegal instruction that is not a PTWRITE is left to the program. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *user = &users[sig];

	if (user->sa_flags & SA_SIGINFO) {
		user->sa_sigaction(sig, info, context);
	} else if (user->sa_handler != SIG_DFL && user->sa_handler != SIG_IGN) {
		user->sa_handler(sig);
	} else {
		struct sigaction none = { .sa_handler = SIG_DFL };

		real_sigaction(sig, &none, NULL); /* it comes again, and kills */
	}
}

/* Never returns after a PTWRITE: the plugin sees rt_sigreturn with our arguments. */
static void illegal(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t ip = (uint64_t)regs[REG_RIP];
	struct ptwrite w = { .p = (const uint8_t *)(uintptr_t)ip };

	if (!read_ptwrite(&w, regs)) {
		pass_on(sig, info, context);
		return;
	}
	regs[REG_RIP] = (greg_t)(uintptr_t)w.p;
	__asm__ volatile("mov %0, %%rsp\n\tsyscall"
			 :
			 : "r"(context), "a"((long)SYS_rt_sigreturn), "D"(operand(&w, regs)), "S"(ip),
			   "d"(w.rex & 8 ? 8ul : 4ul)
			 : "memory");
	__builtin_unreachable();
}

/* --- signals ----------------------------------------------------------------------------------------- */

/* First it notifies the plugin; then the program's handler runs in its place. */
static void handle(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	void (*handler)(int, siginfo_t *, void *) = users[sig].sa_sigaction;

	call_plugin(GUEST_SIGNAL, (uint64_t)regs[REG_RIP], 0, 0, 0);
	handler(sig, info, context);
}

static bool is_handler(const struct sigaction *act)
{
	return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction ours, user;
	int err;

	if (sig <= 0 || sig >= NSIGNALS)
		return real_sigaction(sig, act, old);
	user = users[sig];
	if (sig == SIGILL) {
		if (act)
			users[sig] = *act;
		if (old)
			*old = user;
		return 0;
	}
	if (act) {
		ours = *act;
		sigdelset(&ours.sa_mask, SIGILL);
		if (is_handler(act)) {
			users[sig] = *act;
			ours.sa_flags |= SA_SIGINFO;
			ours.sa_sigaction = handle;
		}
	}
	err = real_sigaction(sig, act ? &ours : NULL, old);
	if (err)
		users[sig] = user;
	else if (old && old->sa_flags & SA_SIGINFO && old->sa_sigaction == handle)
		*old = user;
	return err;
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	return sigaction(sig, &act, &old) ? SIG_ERR : old.sa_handler;
}

/* A PTWRITE while SIGILL is blocked would kill the program. */
static int mask_signals(int how, const sigset_t *set, sigset_t *old)
{
	static int (*real)(int, const sigset_t *, sigset_t *);
	sigset_t ours;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_sigmask");
	if (set && how != SIG_UNBLOCK) {
		ours = *set;
		sigdelset(&ours, SIGILL);
		set = &ours;
	}
	return real(how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_signals(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int err = mask_signals(how, set, old);

	if (!err)
		return 0;
	errno = err;
	return -1;
}

/* --- the processor ----------------------------------------------------------------------------------- */

/*
 * CPUID of the emulated processor: with Intel Processor Trace and PTWRITE (SDM volume 2, CPUID, leaves 07H, 14H, 15H).
 * The extension calls this first, because QEMU's own CPUID cannot be changed.
 */
EXPORT void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);
EXPORT void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	__asm__("cpuid" : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3]) : "0"(leaf), "2"(subleaf));
	if (leaf == 0 && regs[0] < 0x15)
		regs[0] = 0x15;
	if (leaf == 7 && subleaf == 0)
		regs[1] |= 1u << 25;
	if (leaf == 0x14)
		memcpy(regs, (const uint32_t[4]){ 0, subleaf ? 0 : 0x1f, 0, 0 }, 16);
	if (leaf == 0x15)
		memcpy(regs, (const uint32_t[4]){ 1, GUEST_TSC_PER_CTC, GUEST_CTC_HZ, 0 }, 16);
}

/* --- the way in -------------------------------------------------------------------------------------- */

/* A native Python becomes an emulated one; does not return then. */
static void become_emulated(int argc, char **argv, char **env)
{
	const char *qemu = getenv(SETTINGS_QEMU), *plugin = getenv(SETTINGS_PLUGIN);
	const char **command = calloc((size_t)argc + 8, sizeof(*command));
	char path[4096] = { 0 };
	int n = 0;

	if (!qemu || !plugin || !command || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return;
	command[n++] = qemu;
	command[n++] = "-plugin";
	command[n++] = plugin;
	command[n++] = "-0";
	command[n++] = argc ? argv[0] : path;
	command[n++] = path;
	for (int i = 1; i < argc; i++)
		command[n++] = argv[i];
	execve(qemu, (char **)command, env);
	free(command);
}

/* QEMU's processors identify themselves (leaf 40000000H, for hypervisors). */
static bool is_emulated(void)
{
	uint32_t regs[4];

	__asm__("cpuid" : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3]) : "0"(0x40000000), "2"(0));
	return memcmp(&regs[1], "TCGTCGTCGTCG", 12) == 0;
}

struct code {
	uintptr_t begin, end;
};

/* The executable segment that contains this function. */
static int find_code(struct dl_phdr_info *info, size_t size, void *found)
{
	const uintptr_t here = (uintptr_t)find_code;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		struct code code = { info->dlpi_addr + ph->p_vaddr, 0 };

		code.end = code.begin + ph->p_memsz;
		if (ph->p_type == PT_LOAD && here >= code.begin && here < code.end)
			*(struct code *)found = code;
	}
	return 0;
}

static __attribute__((constructor)) void start(int argc, char **argv, char **env)
{
	struct sigaction act = { .sa_sigaction = illegal, .sa_flags = SA_SIGINFO };
	struct code code = { 0, 0 };

	if (!is_emulated()) {
		if (dlsym(RTLD_DEFAULT, "Py_BytesMain"))
			become_emulated(argc, argv, env);
		return;
	}
	dl_iterate_phdr(find_code, &code);
	call_plugin(GUEST_HERE, code.begin, code.end, (uintptr_t)illegal, (uintptr_t)handle);
	sigfillset(&act.sa_mask);
	real_sigaction(SIGILL, &act, NULL);
}
