/* SPDX-License-Identifier: MIT */
/* switch_write.h - records of switches into a buffer, as the kernel writes them, for tests. */
#pragma once

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "record/switches.h"

#define SWITCH_PAGE 4096u

/* An empty buffer, for switches_close(). */
static inline struct switches switch_buffer(void)
{
	struct perf_event_mmap_page *page = mmap(NULL, 2 * SWITCH_PAGE, PROT_READ | PROT_WRITE,
						 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	page->data_offset = page->data_size = SWITCH_PAGE;
	return (struct switches){ .page = page };
}

/* `size`: what the record says of itself; else it is 24 bytes long. */
static inline void switch_record(struct switches *s, uint32_t type, uint16_t misc, uint16_t size, uint64_t ns,
				 uint64_t cpu)
{
	struct {
		struct perf_event_header header;
		uint64_t ns, cpu;
	} r = { { type, misc, size }, ns, cpu };
	uint8_t *data = (uint8_t *)s->page + SWITCH_PAGE;

	for (size_t i = 0; i < sizeof(r); i++)
		data[(s->page->data_head + i) % SWITCH_PAGE] = ((uint8_t *)&r)[i];
	s->page->data_head += sizeof(r);
}

static inline void switch_write(struct switches *s, uint64_t ns, bool in, uint64_t cpu)
{
	switch_record(s, PERF_RECORD_SWITCH, in ? 0 : PERF_RECORD_MISC_SWITCH_OUT, 24, ns, cpu);
}
