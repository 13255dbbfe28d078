/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - the plugin itself: turns QEMU's callbacks into calls of walk.h.
 *
 * Each thread of the program is a thread here, so its data are thread-local. A thread's trace is opened when it first
 * runs, again in a forked child; a program that is executed is another QEMU. No file stays open: descriptors here are
 * the program's.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common_clock.h"
#include "compiled.h"
#include "guest.h"
#include "images.h"
#include "plugin_api.h"
#include "truth.h"
#include "walk.h"

#define EXPORT __attribute__((visibility("default")))

/* The program's; where Ocular is built their numbers may differ. */
#define SYS_X86_64_MMAP	      9
#define SYS_X86_64_MPROTECT   10
#define SYS_X86_64_MUNMAP     11
#define SYS_X86_64_EXECVE     59
#define SYS_X86_64_EXIT_GROUP 231

struct thread {
	struct walk walk; /* on the core where the thread runs */
	uint64_t words;	  /* on this core */
	bool moves;	  /* to another core, before it continues */
	uint32_t pid, tid;
	bool hidden;				  /* runs code of guest.c */
	uint64_t mmap_size, mmap_fd, mmap_offset; /* of the current call; size 0: none */
	struct compiled_thread compiled;
};

/* Of this process: QEMU has one plugin in a process, and its callbacks get no user data. */
static struct {
	struct settings set;
	char spools[PATH_MAX];
	char program[PATH_MAX];
	struct clock_page *clock;
	pthread_mutex_t lock;
	struct core *cpus;    /* with migrate=N */
	struct block *blocks; /* all blocks ever made: QEMU may run them at any time */
	uint64_t hidden_from, hidden_to, on_illegal, on_signal;
	struct compiled compiled;
	bool images_recorded;
	uint32_t parent; /* whose fork this process is; recorded with its first thread */
} here = { .lock = PTHREAD_MUTEX_INITIALIZER, .compiled.lock = PTHREAD_MUTEX_INITIALIZER };

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

static struct side side_of(const struct thread *t)
{
	return (struct side){ here.spools, t->pid, t->tid, t->walk.core->cpu, t->walk.core->tsc };
}

static void report_thread(const struct thread *t)
{
	const struct side s = side_of(t);
	char comm[32] = "";

	prctl(PR_GET_NAME, comm);
	if (here.parent)
		side_fork(&s, here.parent);
	here.parent = 0;
	side_comm(&s, comm);
	side_start(&s);
	if (here.set.migrate)
		side_switch(&s, 0);
	if (!here.images_recorded) {
		here.images_recorded = true;
		images_first(&s, &here.set, here.program);
	}
}

/* Without a trace a thread would be missing without notice: better no recording at all. */
static void fail(const char *what, int err)
{
	fprintf(stderr, "ocular-qemu: %s: %s\n", what, strerror(-err));
	_exit(125);
}

/* Data in shared memory survive even if the thread is killed. */
static void note(struct thread *t)
{
	t->walk.core->spool.head->instructions = t->walk.core->ran;
	t->walk.core->spool.head->now = t->walk.core->tsc;
	t->walk.core->spool.head->surprises = t->walk.surprises;
}

/* A new core, at `tsc`: a CPU, or the core of thread t alone. */
static struct core *make_core(const struct thread *t, uint64_t tsc)
{
	unsigned ticket = clock_ticket(here.clock);
	struct spool_head head = { .pid = t->pid, .tid = t->tid, .cpu = UINT32_MAX, .tsc = tsc };
	struct core *c = malloc(sizeof(*c));
	char path[PATH_MAX];
	int err;

	if (!c)
		fail("no memory", -ENOMEM);
	if (here.set.migrate) {
		head.tid = UINT32_MAX;
		head.cpu = ticket;
	}
	if (snprintf(path, sizeof(path), "%s/%06u", here.spools, ticket) >= PATH_MAX)
		fail(here.spools, -ENAMETOOLONG);
	err = core_open(c, &here.set, path, &head);
	if (err)
		fail(path, err);
	return c;
}

/* An idle CPU, but not `last`; a new one if there is none. */
static struct core *take_cpu(const struct thread *t, const struct core *last, uint64_t tsc)
{
	struct core *c;

	pthread_mutex_lock(&here.lock);
	for (c = here.cpus; c && (c->busy || c == last); c = c->older)
		;
	if (!c) {
		c = make_core(t, tsc);
		c->older = here.cpus;
		here.cpus = c;
	}
	c->busy = true;
	pthread_mutex_unlock(&here.lock);
	core_sleep(c, tsc > c->tsc ? tsc : c->tsc + 1); /* at another time than the previous thread there */
	return c;
}

/* The thread, whose next instruction is at ip, continues on another CPU, later than the previous thread there. */
static void migrate(struct thread *t, uint64_t ip)
{
	struct core *last = t->walk.core;
	struct side s = side_of(t);

	t->moves = false;
	core_interrupt(last, ip);
	note(t);
	side_switch(&s, 1);
	t->walk.core = take_cpu(t, last, last->tsc + 1);
	t->words = 0;
	last->busy = false;
	s = side_of(t);
	side_switch(&s, 0);
}

/* Losses begin or end. A buffer that became full, whose bytes are a window, gets a record beside the trace. */
static void turn(struct thread *t, uint64_t ip)
{
	struct core *c = t->walk.core;
	const struct side s = side_of(t);
	uint64_t at = c->spool.at;

	core_turn(c, ip);
	if (c->silent && here.set.full)
		side_aux(&s, at, SPOOL_WINDOW, SIDE_AUX_TRUNCATED);
}

static void report_snapshot(const struct thread *t)
{
	const struct side s = side_of(t);
	uint64_t used = t->walk.core->spool.head->used;
	uint64_t size = used < here.set.snapshot ? used : here.set.snapshot;

	side_aux(&s, used - size, size, SIDE_AUX_OVERWRITE);
}

static struct thread *open_thread(void)
{
	struct thread *t = calloc(1, sizeof(*t));
	uint64_t tsc = clock_now(here.clock);

	if (!t)
		fail("no memory", -ENOMEM);
	t->pid = (uint32_t)getpid();
	t->tid = (uint32_t)syscall(SYS_gettid);
	t->walk.core = here.set.migrate ? take_cpu(t, NULL, tsc) : make_core(t, tsc);
	self = t;
	report_thread(t);
	return t;
}

/* --- running ----------------------------------------------------------------------------------------- */

static void run_hidden(struct thread *t, const struct block *b)
{
	if (t->hidden)
		return;
	t->hidden = true;
	if (b->start != here.on_illegal && b->start != here.on_signal)
		walk_leave(&t->walk, b->start);
}

/*
 * The guest's registers in QEMU 7.2 (struct CPUArchState, target/i386/cpu.h): the plugin interface does not have them,
 * but code that QEMU generates for x86-64 has their address in RBP. Only the carry after a 64-bit SHL is read.
 */
struct registers {
	uint64_t general[16], ip, flags;
	uint64_t cc_dst, cc_src, cc_src2; /* operands of the last instruction that set the flags */
	uint32_t cc_op;
};

#define CC_OP_SHLQ 37u /* cc_src: the operand before the last bit went out */

static bool carry(struct thread *t, const struct registers *r)
{
	t->walk.surprises += r->cc_op != CC_OP_SHLQ;
	return r->cc_src >> 63;
}

void run_with_registers(unsigned vcpu, void *data, const struct registers *registers);

static __attribute__((naked)) void run(unsigned vcpu, void *data)
{
	(void)vcpu, (void)data;
	__asm__("mov %rbp, %rdx\n\tjmp run_with_registers");
}

__attribute__((used)) void run_with_registers(unsigned vcpu, void *data, const struct registers *registers)
{
	const struct block *b = data, *last;
	struct thread *t = self ? self : open_thread();

	(void)vcpu;
	if (walk_is_blind(&t->walk))
		t->walk.carry = carry(t, registers);
	if (b->hidden) {
		run_hidden(t, b);
		return;
	}
	t->hidden = false;
	if (t->walk.core->turns && !b->outside)
		turn(t, b->start);
	if (t->moves && !b->outside)
		migrate(t, b->start);
	last = t->walk.open;
	walk_block(&t->walk, b);
	if (b->compiled || t->compiled.inside)
		compiled_block(&here.compiled, &t->compiled, last, b, t->walk.core->tsc);
}

static void translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n - 1);
	size_t size = qemu_plugin_insn_size(insn);
	struct block *b = calloc(1, sizeof(*b) + n * sizeof(*b->offsets));
	struct insn last;

	(void)id;
	if (!b)
		fail("no memory", -ENOMEM);
	b->start = qemu_plugin_tb_vaddr(tb);
	b->last = qemu_plugin_insn_vaddr(insn);
	b->end = b->last + size;
	b->n = (uint32_t)n;
	b->tool = here.set.tool.ngiven && ranges_hold(&here.set.tool, b->start);
	b->outside = b->tool || !ranges_hold(&here.set.filter, b->start);
	b->handler = handlers_find(&here.set.handlers, b->start);
	b->compiled = compiled_holds(&here.compiled, b->start);
	b->hidden = b->start >= here.hidden_from && b->start < here.hidden_to;
	last = insn_decode(qemu_plugin_insn_data(insn), size, b->last);
	for (size_t i = 0; i < n; i++)
		b->offsets[i] = (uint16_t)(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)) - b->start);
	b->kind = last.kind;
	b->target = last.target;
	pthread_mutex_lock(&here.lock);
	b->older = here.blocks;
	here.blocks = b;
	pthread_mutex_unlock(&here.lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, run, PLUGIN_NO_REGISTERS, b);
}

/* --- system calls ------------------------------------------------------------------------------------ */

static void end_ptwrite(struct thread *t, uint64_t word, uint64_t ip, uint64_t bytes)
{
	enum walk_word what = walk_ptwrite(&t->walk, word, ip, bytes);

	note(t);
	compiled_word(&t->compiled, word, t->walk.core->tsc);
	if (what != WORD_UNTRACED && here.set.truth) {
		const struct side s = side_of(t);

		truth_word(&s, what == WORD_LOST ? "lost" : "word", t->walk.instructions, word, &t->walk.core->spool);
	}
	if (here.set.every && t->walk.core->words % here.set.every == 0)
		report_snapshot(t);
	t->moves = here.set.migrate && ++t->words >= here.set.migrate;
}

static void hear_guest(struct thread *t, int64_t number, const uint64_t *a)
{
	switch (number) {
	case GUEST_HERE:
		here.hidden_from = a[0];
		here.hidden_to = a[1];
		here.on_illegal = a[2];
		here.on_signal = a[3];
		/* The constructor that reports it was translated as the program's. */
		walk_leave(&t->walk, a[0]);
		t->hidden = true;
		return;
	case GUEST_SIGNAL:
		walk_signal(&t->walk, a[0]);
		return;
	case SYS_rt_sigreturn:
		end_ptwrite(t, a[0], a[1], a[2]);
	}
}

static void follow_compiled(const struct thread *t, int64_t number, const uint64_t *a)
{
	char *folder;

	if (number == SYS_X86_64_MPROTECT || number == SYS_X86_64_MUNMAP)
		compiled_protect(&here.compiled, a[0], a[1], number == SYS_X86_64_MPROTECT && a[2] & PROT_EXEC);
	if (number != SYS_X86_64_EXECVE && number != SYS_X86_64_EXIT_GROUP)
		return;
	folder = strdup(here.spools); /* its parent is the recording */
	if (folder && strrchr(folder, '/'))
		*strrchr(folder, '/') = 0;
	if (folder)
		compiled_write(&here.compiled, folder, t->pid);
	free(folder);
}

static void enter_kernel(struct thread *t, int64_t number, const uint64_t *a)
{
	follow_compiled(t, number, a);
	walk_syscall(&t->walk);
	note(t);
	clock_reach(here.clock, t->walk.core->tsc);
	t->mmap_size = number == SYS_X86_64_MMAP && a[2] & PROT_EXEC && !(a[3] & MAP_ANONYMOUS) ? a[1] : 0;
	t->mmap_fd = a[4];
	t->mmap_offset = a[5];
}

static void enter_syscall(plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
			  uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t a[] = { a1, a2, a3, a4, a5, a6 };
	struct thread *t = self ? self : open_thread();

	(void)id, (void)vcpu, (void)a7, (void)a8;
	if (t->hidden || number == GUEST_HERE)
		hear_guest(t, number, a);
	else
		enter_kernel(t, number, a);
}

static void leave_syscall(plugin_id id, unsigned vcpu, int64_t number, int64_t result)
{
	struct thread *t = self;

	(void)id, (void)vcpu, (void)number;
	if (!t || t->hidden)
		return;
	core_sleep(t->walk.core, clock_now(here.clock));
	if (t->mmap_size && result > 0) {
		const struct side s = side_of(t);

		images_mapped(&s, &here.set, (uint64_t)result, t->mmap_size, (int)t->mmap_fd, t->mmap_offset);
	}
	t->mmap_size = 0;
}

/* In the child: the files of the parent's thread are the parent's. */
static void forked(void)
{
	struct thread *parent = self;

	pthread_mutex_init(&here.lock, NULL);
	pthread_mutex_init(&here.compiled.lock, NULL);
	compiled_forget(&here.compiled);
	if (!parent)
		return;
	here.parent = parent->pid;
	here.cpus = NULL;
	open_thread()->hidden = parent->hidden;
	compiled_thread_free(&parent->compiled);
	own_free(&parent->walk.own);
	free(parent);
}

/* --- the beginning ----------------------------------------------------------------------------------- */

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv);
EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv)
{
	(void)argc, (void)argv;
	if (strcmp(info->target_name, "x86_64") != 0 || info->system_emulation) {
		fprintf(stderr, "ocular-qemu: not qemu-x86_64 but an emulator of %s\n", info->target_name);
		return -1;
	}
	settings_init(&here.set);
	snprintf(here.spools, sizeof(here.spools), "%s", setting(SETTINGS_SPOOLS));
	if (settings_words(&here.set, setting(SETTINGS_ENV)) || !here.spools[0]) {
		fprintf(stderr, "ocular-qemu: this plugin must be started by ocular-qemu\n");
		return -1;
	}
	here.clock = clock_map(here.spools);
	if (!here.clock) {
		fprintf(stderr, "ocular-qemu: %s: the recording is over\n", here.spools);
		return -1;
	}
	images_program(here.program, sizeof(here.program));
	if (strrchr(here.program, '/'))
		prctl(PR_SET_NAME, strrchr(here.program, '/') + 1);
	pthread_atfork(NULL, NULL, forked);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_vcpu_syscall_cb(id, enter_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, leave_syscall);
	return 0;
}
