/* SPDX-License-Identifier: MIT */
/* switches.c - see switches.h; records as perf_event_open(2) describes them. */
#include <errno.h>
#include <linux/perf_event.h>
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
static const unsigned int pages[] = { 8, 1 };

/* What the kernel may be writing before it moves the head; two records. */
#define BEING_WRITTEN 64u

#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14) /* Linux 4.17; the bit is 0 before */
#endif

/* PERF_RECORD_SWITCH, and PERF_RECORD_LOST, as sample_type makes them. */
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
	};
};

static int open_event(uint32_t tid, bool overwritten)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.context_switch = 1,
		.write_backward = overwritten,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The mapping keeps the event when its descriptor is closed. */
static int map(struct switches *s, int fd, int prot)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err = -EPERM;

	for (size_t i = 0; err == -EPERM && i < sizeof(pages) / sizeof(*pages); i++) {
		s->page = mmap(NULL, (1 + pages[i]) * page, prot, MAP_SHARED, fd, 0);
		err = s->page == MAP_FAILED ? -errno : 0;
	}
	if (err)
		s->page = NULL;
	return err;
}

static int open_switches(struct switches *s, uint32_t pid, uint32_t tid, bool overwritten)
{
	int fd, err;

	*s = (struct switches){ 0 };
	/* The number comes from the process, which may see other numbers than we do. */
	if (syscall(SYS_tgkill, pid, tid, 0))
		return -errno;
	fd = open_event(tid, overwritten);
	if (fd < 0)
		return fd;
	err = map(s, fd, overwritten ? PROT_READ : PROT_READ | PROT_WRITE); /* that is how the kernel knows */
	close(fd);
	return err;
}

int switches_open(struct switches *s, uint32_t pid, uint32_t tid)
{
	return open_switches(s, pid, tid, false);
}

int switches_open_overwritten(struct switches *s, uint32_t pid, uint32_t tid)
{
	return open_switches(s, pid, tid, true);
}

static struct switched switched_of(const struct record *r)
{
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

const struct switched *switches_peek(struct switches *s)
{
	struct record r = { 0 };

	while (s->page && !s->peeked && (s->size = read_record(s->page, &r))) {
		s->lost |= r.header.type == PERF_RECORD_LOST;
		s->peeked = r.header.type == PERF_RECORD_SWITCH && s->size == sizeof(r);
		s->next = switched_of(&r);
		s->next.lost = s->lost;
		s->next.woken = s->next.in && s->waits && !s->lost;
		if (!s->peeked)
			skip(s, s->size);
	}
	return s->peeked ? &s->next : NULL;
}

void switches_take(struct switches *s)
{
	s->peeked = s->lost = false;
	s->waits = !s->next.in && !s->next.preempted;
	skip(s, s->size);
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

	for (; size >= sizeof(r); size -= sizeof(r), bytes += sizeof(r)) {
		memcpy(&r, bytes, sizeof(r));
		if (r.header.type != PERF_RECORD_SWITCH || r.header.size != sizeof(r))
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

	*list = malloc(size / sizeof(struct record) * sizeof(**list));
	if (bytes && *list) {
		n = read_all(bytes, copy_all(s->page, bytes, &written), *list);
		*whole = n * sizeof(struct record) == written;
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
