/* SPDX-License-Identifier: MIT */
/*
 * perf_layout.h - the records of a perf.data that perf and the kernel write and Ocular only reads;
 * perf_format.h has the others. Source: include/uapi/linux/perf_event.h,
 * tools/lib/perf/include/perf/event.h.
 */
#pragma once

#include "shared/perf_format.h"

enum perf_read_type {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_SAMPLE = 9,
	PERF_AUX = 11,
	PERF_SWITCH_CPU_WIDE = 15,
	PERF_KERNEL_TYPES = 64, /* from here on they are perf's own, without a sample id */
	PERF_ID_INDEX = 69,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
};

/* Bits of attr.sample_type that perf_format.h does not need, in the order of their fields. */
#define PERF_SAMPLE_ADDR	  (1ull << 3)
#define PERF_SAMPLE_READ	  (1ull << 4)
#define PERF_SAMPLE_CALLCHAIN	  (1ull << 5)
#define PERF_SAMPLE_ID		  (1ull << 6)
#define PERF_SAMPLE_PERIOD	  (1ull << 8)
#define PERF_SAMPLE_STREAM_ID	  (1ull << 9)
#define PERF_SAMPLE_RAW		  (1ull << 10)
#define PERF_SAMPLE_BRANCH_STACK  (1ull << 11)
#define PERF_SAMPLE_REGS_USER	  (1ull << 12)
#define PERF_SAMPLE_STACK_USER	  (1ull << 13)
#define PERF_SAMPLE_WEIGHT	  (1ull << 14)
#define PERF_SAMPLE_DATA_SRC	  (1ull << 15)
#define PERF_SAMPLE_TRANSACTION	  (1ull << 17)
#define PERF_SAMPLE_REGS_INTR	  (1ull << 18)
#define PERF_SAMPLE_PHYS_ADDR	  (1ull << 19)
#define PERF_SAMPLE_AUX		  (1ull << 20)
#define PERF_SAMPLE_CGROUP	  (1ull << 21)
#define PERF_SAMPLE_DATA_PAGE	  (1ull << 22)
#define PERF_SAMPLE_CODE_PAGE	  (1ull << 23)
#define PERF_SAMPLE_WEIGHT_STRUCT (1ull << 24)

#define PERF_READ_TIMES	     3u /* two of them: enabled, running */
#define PERF_READ_ID	     (1u << 2)
#define PERF_READ_GROUP	     (1u << 3)
#define PERF_READ_LOST	     (1u << 4)
#define PERF_BRANCH_HW_INDEX (1ull << 17)

/* Offsets in struct perf_attr's unnamed rest that only readers need. */
#define ATTR_BRANCH_TYPE(a) ((a)->rest[3])
#define ATTR_REGS_USER(a)   ((a)->rest[4])
#define ATTR_REGS_INTR(a)   ((a)->rest[6])
#define ATTR_AUX_SAMPLE(a)  ((uint32_t)(a)->rest[8])

#define PERF_AUX_TRUNCATED 1u

#define PERF_MISC_SWITCH_OUT_PREEMPT (1u << 14) /* with PERF_MISC_SWITCH_OUT; since Linux 4.17 */

struct perf_aux {
	struct perf_record header;
	uint64_t offset, size, flags;
};

/* The other thread of a switch: the next one when this one leaves. */
struct perf_switch_wide {
	struct perf_record header;
	uint32_t pid, tid;
};

struct perf_lost {
	struct perf_record header;
	uint64_t id, lost;
};

struct perf_id_index {
	struct perf_record header;
	uint64_t n;
	struct perf_id_entry {
		uint64_t id, idx, cpu, tid;
	} entries[];
};

struct perf_compressed2 {
	struct perf_record header;
	uint64_t size; /* of the data; the record is filled up to 8 bytes */
	uint8_t data[];
};
