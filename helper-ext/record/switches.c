/* SPDX-License-Identifier: MIT */
/* switches.c - see switches.h; records as perf_event_open(2) describes them. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "switches.h"

/*
 * Pages for records of 24 bytes, in the order in which they are tried: 1365 switches, as many as a busy thread makes in
 * 10 ms; then 170, because the kernel limits what an ordinary user's buffers take.
 */
static const unsigned int pages[] = { 8, 1, 0 };

/* Samples with their stacks take two pages. */
static const unsigned int roomy_pages[] = { 64, 16, 0 };
static const unsigned int sampled_pages[] = { 16, 0 };

/* What the kernel may be writing before it moves the head; two records. */
#define BEING_WRITTEN 64u

#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14) /* Linux 4.17; the bit is 0 before */
#endif

/* The beginnings of the records, as sample_type makes them. */
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint64_t ns;
			uint32_t cpu, reserved;
		} at;
		struct {
			uint64_t id, count;
		} lost;
		struct {
			uint64_t ip, ns;
			uint32_t cpu, reserved;
		} sample; /* then its registers and its stack */
	};
};

#define SWITCH_SIZE (sizeof(struct perf_event_header) + sizeof(((struct record *)0)->at))

/* The registers that unwinding needs: their bits in sample_regs_user (asm/perf_regs.h), their DWARF numbers. */
#if defined(__x86_64__) && !defined(ARCH_GENERIC)
#define REGISTERS 0xff01ffull
static const uint8_t numbers[] = { 0, 3, 2, 1, 4, 5, 6, 7, CFI_RETURN, 8, 9, 10, 11, 12, 13, 14, 15 };
#define STACK_TYPES (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#else
#define REGISTERS   0ull
static const uint8_t numbers[] = { CFI_RETURN };
#define STACK_TYPES 0
#endif
#define NREGISTERS sizeof(numbers)

static const struct perf_event_attr switches_only = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_DUMMY,
	.size = sizeof(switches_only),
	.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = 1,
	.context_switch = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
};

static struct perf_event_attr sampled(uint32_t hz)
{
	struct perf_event_attr attr = switches_only;

	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 1000000000 / hz;
	attr.sample_type |= PERF_SAMPLE_IP | STACK_TYPES;
	attr.sample_regs_user = REGISTERS;
	attr.sample_stack_user = STACK_TYPES ? SWITCHES_STACK : 0;
	attr.mmap = 1;
	return attr;
}

/* The mapping keeps the event when its descriptor is closed. */
static int map(struct switches *s, int fd, int prot, const unsigned int *pages_of)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err = -EPERM;

	for (; err == -EPERM && *pages_of; pages_of++) {
		s->page = mmap(NULL, (1 + *pages_of) * page, prot, MAP_SHARED, fd, 0);
		err = s->page == MAP_FAILED ? -errno : 0;
	}
	if (err)
		s->page = NULL;
	return err;
}

static int open_switches(struct switches *s, uint32_t pid, uint32_t tid, struct perf_event_attr attr,
			 const unsigned int *pages_of)
{
	int fd, err;

	*s = (struct switches){ 0 };
	/* The number comes from the process, which may see other numbers than we do. */
	if (syscall(SYS_tgkill, pid, tid, 0))
		return -errno;
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	s->samples = attr.sample_period;
	err = map(s, fd, attr.write_backward ? PROT_READ : PROT_READ | PROT_WRITE, /* that is how the kernel knows */
		  pages_of);
	close(fd);
	return err;
}

int switches_open(struct switches *s, uint32_t pid, uint32_t tid)
{
	return open_switches(s, pid, tid, switches_only, pages);
}

int switches_open_sampled(struct switches *s, uint32_t pid, uint32_t tid, uint32_t hz, bool roomy)
{
	return open_switches(s, pid, tid, sampled(hz), roomy ? roomy_pages : sampled_pages);
}

int switches_open_overwritten(struct switches *s, uint32_t pid, uint32_t tid)
{
	struct perf_event_attr attr = switches_only;

	attr.write_backward = 1;
	return open_switches(s, pid, tid, attr, pages);
}

static struct switched switched_of(const struct record *r)
{
	if (r->header.type == PERF_RECORD_SAMPLE)
		return (struct switched){ .ns = r->sample.ns, .cpu = (uint16_t)r->sample.cpu, .sample = true };
	return (struct switched){
		.ns = r->at.ns,
		.cpu = (uint16_t)r->at.cpu,
		.in = !(r->header.misc & PERF_RECORD_MISC_SWITCH_OUT),
		.preempted = r->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	};
}

/* Copies out of the buffer, which wraps. */
static void copy(const struct perf_event_mmap_page *page, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)page + page->data_offset;
	uint64_t from = at & (page->data_size - 1), end = page->data_size - from;
	size_t first = size < end ? size : end;

	memcpy(to, data + from, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/* The oldest record, as much of it as fits. Returns its size; 0: there is none, or it is not a record. */
static uint32_t read_record(const struct perf_event_mmap_page *page, struct record *r)
{
	uint64_t left = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - page->data_tail;
	uint32_t size;

	if (left < sizeof(r->header))
		return 0;
	copy(page, page->data_tail, &r->header, sizeof(r->header));
	size = r->header.size;
	if (size < sizeof(r->header) || size > left)
		return 0;
	copy(page, page->data_tail, r, size < sizeof(*r) ? size : sizeof(*r));
	return size;
}

static void skip(struct switches *s, uint32_t size)
{
	__atomic_store_n(&s->page->data_tail, s->page->data_tail + size, __ATOMIC_RELEASE);
}

static bool is_of_interest(const struct record *r)
{
	if (r->header.type == PERF_RECORD_SAMPLE)
		return r->header.size >= sizeof(r->header) + sizeof(r->sample);
	return r->header.type == PERF_RECORD_SWITCH && r->header.size == SWITCH_SIZE;
}

const struct switched *switches_peek(struct switches *s)
{
	struct record r = { 0 };

	while (s->page && !s->peeked && (s->size = read_record(s->page, &r))) {
		s->lost |= r.header.type == PERF_RECORD_LOST;
		s->dropped += r.header.type == PERF_RECORD_LOST ? r.lost.count : 0;
		s->mapped |= r.header.type == PERF_RECORD_MMAP;
		s->peeked = is_of_interest(&r);
		s->next = switched_of(&r);
		s->next.lost = s->lost;
		s->next.mapped = s->mapped;
		s->next.woken = s->next.in && s->waits && !s->lost;
		if (!s->peeked)
			skip(s, s->size);
	}
	return s->peeked ? &s->next : NULL;
}

void switches_take(struct switches *s)
{
	s->peeked = s->mapped = false;
	if (!s->next.sample) {
		s->lost = false;
		s->waits = !s->next.in && !s->next.preempted;
	}
	skip(s, s->size);
}

/* After the beginning: which ABI's registers, these, how much of the stack there is room for, it, how much there is. */
bool switches_sample(const struct switches *s, struct switches_sample *sample)
{
	uint64_t at = s->page->data_tail + offsetof(struct record, sample), values[1 + NREGISTERS], size;
	struct registers *r = &sample->registers;

	*r = (struct registers){ 0 };
	sample->stack = (struct stack_copy){ .bytes = sample->bytes };
	copy(s->page, at, &r->value[CFI_RETURN], sizeof(uint64_t));
	at += sizeof(((struct record *)0)->sample);
	if (!STACK_TYPES)
		return true;
	copy(s->page, at, values, sizeof(values));
	if (values[0] != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (size_t i = 0; i < NREGISTERS; i++)
		r->value[numbers[i]] = values[1 + i];
	at += sizeof(values);
	copy(s->page, at, &size, sizeof(size));
	if (size > SWITCHES_STACK || !size)
		return true;
	copy(s->page, at + sizeof(size), sample->bytes, size);
	copy(s->page, at + sizeof(size) + size, &sample->stack.size, sizeof(size));
	if (sample->stack.size > size)
		sample->stack.size = size;
	sample->stack.address = r->value[CFI_RSP];
	return true;
}

/*
 * All that is in an overwritten buffer, the newest record first, into `bytes`: the kernel fills it downwards. Returns
 * how much of it is intact; *written: how much there ever was.
 */
static uint64_t copy_all(const struct perf_event_mmap_page *page, uint8_t *bytes, uint64_t *written)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), gone;

	copy(page, head, bytes, page->data_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	gone = head - __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) + BEING_WRITTEN;
	*written = -head;
	gone = gone < page->data_size ? gone : page->data_size;
	return *written < page->data_size - gone ? *written : page->data_size - gone;
}

/* The records of `bytes`, as far as they are some; returns how many. */
static int read_all(const uint8_t *bytes, uint64_t size, struct switched *list)
{
	struct record r;
	int n = 0;

	for (; size >= SWITCH_SIZE; size -= SWITCH_SIZE, bytes += SWITCH_SIZE) {
		memcpy(&r, bytes, SWITCH_SIZE);
		if (r.header.type != PERF_RECORD_SWITCH || r.header.size != SWITCH_SIZE)
			break;
		list[n++] = switched_of(&r);
	}
	return n;
}

/* Oldest first. */
static void put_in_order(struct switched *list, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct switched other = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = other;
	}
	for (int i = 1; i < n; i++)
		list[i].woken = list[i].in && !list[i - 1].in && !list[i - 1].preempted;
}

int switches_copy(const struct switches *s, struct switched **list, bool *whole)
{
	uint64_t size = s->page->data_size, written;
	uint8_t *bytes = malloc(size);
	int n = -ENOMEM;

	*list = malloc(size / SWITCH_SIZE * sizeof(**list));
	if (bytes && *list) {
		n = read_all(bytes, copy_all(s->page, bytes, &written), *list);
		*whole = n * SWITCH_SIZE == written;
		put_in_order(*list, n);
	}
	free(bytes);
	if (n <= 0) {
		free(*list);
		*list = NULL;
	}
	return n;
}

bool switches_crowded(const struct switches *s)
{
	const struct perf_event_mmap_page *page = s->page;

	return page && __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) - page->data_tail > page->data_size / 2;
}

void switches_close(struct switches *s)
{
	if (s->page)
		munmap(s->page, s->page->data_offset + s->page->data_size);
	*s = (struct switches){ 0 };
}
