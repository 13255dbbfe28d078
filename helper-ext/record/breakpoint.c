/* SPDX-License-Identifier: MIT */
/* breakpoint.c - see breakpoint.h; records as perf_event_open(2) describes them. */
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "breakpoint.h"
#include "symbol.h"

#define PAGE	  4096u
#define DATA_SIZE PAGE

static const int registers[REGISTERS_ARGS] = { REGISTERS_NUMBERS };
static const int argument_at[REGISTERS_ARGS] = { REGISTERS_ORDER };

/* Our samples, after their header. */
struct sample {
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t abi;
	uint64_t regs[REGISTERS_ARGS]; /* absent where abi is 0, which is absent itself where there are none */
};

static uint64_t register_mask(void)
{
	uint64_t mask = 0;

	for (int i = 0; i < REGISTERS_ARGS; i++)
		mask |= 1ull << registers[i];
	return mask;
}

static int open_event(uint32_t tid, uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (REGISTERS_ARGS ? PERF_SAMPLE_REGS_USER : 0),
		.sample_regs_user = register_mask(),
		.wakeup_events = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct breakpoint *make(uint32_t pid, uint32_t tid, uint64_t address, const char *what)
{
	struct breakpoint *bp = malloc(sizeof(*bp));

	if (!bp)
		return NULL;
	*bp = (struct breakpoint){ open_event(tid, address), pid, tid, address, what, NULL, NULL };
	bp->ring = bp->fd < 0 ? MAP_FAILED
			      : mmap(NULL, PAGE + DATA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, bp->fd, 0);
	if (bp->ring != MAP_FAILED)
		return bp;
	if (bp->fd >= 0)
		close(bp->fd);
	free(bp);
	return NULL;
}

static void drop(struct breakpoint **at)
{
	struct breakpoint *bp = *at;

	*at = bp->next;
	munmap(bp->ring, PAGE + DATA_SIZE);
	close(bp->fd);
	free(bp);
}

static bool has(const struct breakpoints *b, uint32_t tid, const char *what)
{
	for (const struct breakpoint *bp = b->first; bp; bp = bp->next)
		if (bp->tid == tid && bp->what == what)
			return true;
	return false;
}

/* Once the address is known for a process, it is not looked up again. */
static uint64_t address_of(const struct breakpoints *b, uint32_t pid, const char *what)
{
	const char *colon = strrchr(what, ':');
	char object[256] = "";

	for (const struct breakpoint *bp = b->first; bp; bp = bp->next)
		if (bp->pid == pid && bp->what == what)
			return bp->address;
	if (colon && (size_t)(colon - what) < sizeof(object))
		memcpy(object, what, colon - what);
	return symbol_find(pid, *object ? object : NULL, colon ? colon + 1 : what);
}

unsigned int breakpoints_set(struct breakpoints *b, uint32_t pid, const char *what, void (*watch)(void *to, int fd),
			     void *to)
{
	uint64_t address = address_of(b, pid, what);
	unsigned int n = 0;
	char path[32];
	DIR *tasks;

	if (!address)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		uint32_t tid = strtoul(e->d_name, NULL, 10);
		struct breakpoint *bp;

		if (!tid || has(b, tid, what)) {
			n += tid != 0;
			continue;
		}
		bp = make(pid, tid, address, what);
		if (!bp) {
			if (!b->error && errno != ESRCH) /* the thread has ended meanwhile */
				b->error = -errno;
			continue;
		}
		bp->next = b->first;
		b->first = bp;
		watch(to, bp->fd);
		n++;
	}
	if (tasks)
		closedir(tasks);
	return n;
}

/* Copies out of the ring, which wraps. */
static void take(const struct breakpoint *bp, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)bp->ring + PAGE;

	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = data[(at + i) % DATA_SIZE];
}

static bool read_hit(struct breakpoint *bp, struct hit *hit)
{
	struct perf_event_mmap_page *page = bp->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	struct perf_event_header h;
	struct sample s = { 0 };
	bool found = false;

	while (!found && head - tail >= sizeof(h)) {
		take(bp, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		if (h.type == PERF_RECORD_SAMPLE) {
			size_t size = h.size - sizeof(h);

			take(bp, tail + sizeof(h), &s, size < sizeof(s) ? size : sizeof(s));
			*hit = (struct hit){
				.pid = s.pid, .tid = s.tid, .ns = s.ns, .nargs = s.abi ? REGISTERS_ARGS : 0
			};
			for (int i = 0; i < hit->nargs; i++)
				hit->args[i] = s.regs[argument_at[i]];
			found = true;
		}
		tail += h.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}

struct breakpoint *breakpoints_hit(struct breakpoints *b, int fd, struct hit *hit)
{
	struct breakpoint *bp = b->first;

	while (bp && bp->fd != fd)
		bp = bp->next;
	return bp && read_hit(bp, hit) ? bp : NULL;
}

void breakpoints_end(struct breakpoints *b, int fd)
{
	struct breakpoint **at = &b->first;

	while (*at && (*at)->fd != fd)
		at = &(*at)->next;
	if (*at)
		drop(at);
}

void breakpoints_drop(struct breakpoints *b, uint32_t pid)
{
	struct breakpoint **at = &b->first;

	while (*at) {
		if (!pid || (*at)->pid == pid)
			drop(at);
		else
			at = &(*at)->next;
	}
}
