/* SPDX-License-Identifier: MIT */
/* processor.c - see arch.h. Leaves and bits: SDM volume 2, CPUID; volume 3, 33.3. */
#include <cpuid.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpuid.h"
#include "ext/arch/arch.h"

#define NSEC_PER_SEC 1000000000ull

enum { EAX, EBX, ECX, EDX };

static bool leaf(uint32_t number, uint32_t regs[4])
{
	void (*ask)(uint32_t, uint32_t, uint32_t *) = ocular_cpuid;

	memset(regs, 0, 4 * sizeof(*regs));
	if (!ask)
		return __get_cpuid_count(number, 0, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]);
	ask(0, 0, regs);
	if (regs[EAX] < number)
		return false;
	ask(number, 0, regs);
	return true;
}

/*
 * The page that the kernel maps for any event says how it computes time from the TSC, and perf uses it (perf_event.h,
 * struct perf_event_mmap_page). It needs no right beyond opening one's own events.
 */
static uint64_t kernel_tsc_hz(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *page;
	uint64_t hz = 0;

	if (fd < 0)
		return 0;
	page = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (page->cap_user_time && page->time_mult)
			hz = (uint64_t)(((unsigned __int128)NSEC_PER_SEC << page->time_shift) / page->time_mult);
		munmap(page, (size_t)getpagesize());
	}
	close(fd);
	return hz;
}

/* EBX/EAX is TSC to core crystal clock, ECX the crystal's Hz, which not every processor reports. */
static uint64_t cpuid_tsc_hz(void)
{
	uint32_t r[4];

	if (!leaf(0x15, r) || !r[EAX])
		return 0;
	return (uint64_t)r[ECX] * r[EBX] / r[EAX];
}

void arch_look(bool *pt, bool *ptwrite, uint64_t *tsc_hz)
{
	uint32_t r[4];

	*pt = leaf(7, r) && r[EBX] & 1u << 25;
	*ptwrite = *pt && leaf(0x14, r) && r[EBX] & 1u << 4;
	*tsc_hz = kernel_tsc_hz();
	if (!*tsc_hz)
		*tsc_hz = cpuid_tsc_hz();
}
