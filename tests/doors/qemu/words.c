/* SPDX-License-Identifier: MIT */
/*
 * words.c - a program that executes PTWRITE, for the emulated processor. What it does is named by its
 * argument; the words it writes say (thread << 32 | count), so that a test knows what must be there.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 200

static void ptwrite(uint64_t word)
{
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a"(word)); /* ptwrite %rax */
}

/* Each way to name the operand: a high register, 32 bits, memory with base, index and displacement. */
static void ptwrite_forms(void)
{
	uint64_t values[4] = { 0x1111111122222222, 0x3333333344444444, 0x5555555566666666, 0x77 };

	__asm__ volatile("mov %0, %%r13\n\t.byte 0xf3, 0x49, 0x0f, 0xae, 0xe5" : : "r"(values[0]) : "r13");
	__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xe1" : : "c"(values[1]));			   /* ptwrite %ecx */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0x63, 0x10" : : "b"(values), "m"(values)); /* 16(%rbx) */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0x64, 0xcb, 0x08"			   /* 8(%rbx,%rcx,8) */
			 :
			 : "b"(values), "c"(2ul), "m"(values));
}

/*
 * A word as perf's manual page of intel-pt has it for processors without PTWRITE ("Emulated PTWRITE"): a
 * magic, then a branch for each bit, which leads to the same place taken or not.
 */
#define BIT   "shl %0\n\tjc 1f\n1:\t"
#define BITS8 BIT BIT BIT BIT BIT BIT BIT BIT
static __attribute__((noinline)) void emulated(uint64_t word)
{
	__asm__ volatile("jmp 1f\n\t.byte 0x0f, 0x0b\n\t.ascii \"perf,ptwrite  \"\n1:\t" BITS8 BITS8 BITS8 BITS8 BITS8
				 BITS8 BITS8 BITS8
			 : "+r"(word)
			 :
			 : "cc");
}

static void branches(void)
{
	for (uint64_t i = 0; i < WORDS; i++)
		emulated(i * 0x9e3779b97f4a7c15);
}

static void many(uint64_t thread)
{
	for (uint64_t i = 0; i < WORDS; i++)
		ptwrite(thread << 32 | i);
}

static __attribute__((noinline)) uint64_t recurse(uint64_t n)
{
	if (n % 16 == 0)
		ptwrite(n);
	return n ? recurse(n - 1) + n : 0;
}

/* Executed and emulated by turns. The call between them is where a thread may move: not amid the 64 branches. */
static void both(uint64_t thread)
{
	for (uint64_t i = 0; i < WORDS; i++) {
		ptwrite(thread << 32 | i);
		emulated(1ull << 63 | thread << 32 | i);
	}
}

struct job {
	void (*write)(uint64_t thread);
	uint64_t thread;
};

static void *thread_main(void *arg)
{
	const struct job *job = arg;

	for (int i = 0; i < 10; i++) {
		job->write(job->thread);
		usleep(100);
	}
	return NULL;
}

static void four(void (*write)(uint64_t thread))
{
	pthread_t t[4];
	struct job jobs[4];

	for (uint64_t i = 0; i < 4; i++) {
		jobs[i] = (struct job){ write, i + 1 };
		pthread_create(&t[i], NULL, thread_main, &jobs[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void threads(void)
{
	four(many);
}

static void mixed(void)
{
	four(both);
}

static void forks(void)
{
	for (uint64_t i = 1; i <= 3; i++) {
		if (fork() == 0) {
			many(i);
			_exit(0);
		}
		many(0);
		wait(NULL);
	}
}

static volatile sig_atomic_t alarms;
static sigjmp_buf back;

static void on_alarm(int sig)
{
	(void)sig;
	ptwrite(0xa1a0000 + (uint64_t)alarms);
	alarms++;
}

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Signals that come whenever they come, and one that leaves its handler by a jump. */
static void signals(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	volatile uint64_t sum = 0;

	sigfillset(&act.sa_mask);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (alarms < 20)
		for (int i = 0; i < 1000; i++)
			sum += (uint64_t)i & 3 ? 1 : 2;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGSEGV, on_fault);
	if (!sigsetjmp(back, 1))
		*(volatile int *)8 = 1;
	ptwrite(0x5e9);
}

/* String instructions with REP, and code that goes through a table. */
static void strings(void)
{
	static char a[4096], b[4096];

	for (uint64_t i = 0; i < 50; i++) {
		size_t n = 61 * i;
		void *to = b;
		const void *from = a;

		__asm__ volatile("rep movsb" : "+c"(n), "+D"(to), "+S"(from) : : "memory");
		n = i;
		__asm__ volatile("rep stosb" : "+c"(n), "+D"(to) : "a"(0) : "memory");
		ptwrite(i);
	}
}

static void jumps(void)
{
	jmp_buf env;
	volatile uint64_t i = 0;

	setjmp(env);
	recurse(i % 40);
	if (++i < 100)
		longjmp(env, 1);
}

static void words(void)
{
	many(0);
}

static void deep(void)
{
	for (uint64_t i = 1; i <= 200; i += 13)
		recurse(i);
}

static void children(void)
{
	if (system("exit 3") != 3 << 8)
		exit(1);
	ptwrite(3);
}

/* Seconds of work: tens of millions of instructions. */
static void work(void)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < 400000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (seed >> 63)
			seed ^= recurse(seed >> 60);
	}
	ptwrite(seed);
}

static const struct {
	const char *name;
	void (*run)(void);
} acts[] = {
	{ "words", words },	  { "forms", ptwrite_forms }, { "threads", threads }, { "forks", forks },
	{ "signals", signals },	  { "strings", strings },     { "jumps", jumps },     { "deep", deep },
	{ "children", children }, { "branches", branches },   { "mixed", mixed },     { "work", work },
};

int main(int argc, char **argv)
{
	for (int k = 1; k < argc; k++)
		for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
			if (strcmp(acts[i].name, argv[k]) == 0)
				acts[i].run();
	return 7;
}
