/* SPDX-License-Identifier: MIT */
/*
 * perf_format.h - the part of the perf.data format that a recording of Intel PT needs.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/{header,event,intel-pt}.h and
 * include/uapi/linux/perf_event.h. Everything is little endian, as written by the machine that recorded; all records
 * are multiples of 8 bytes.
 *
 *   file header   104 bytes
 *   ids           one u64 for the one event attribute
 *   attrs         perf_event_attr + section of its ids
 *   data          records: AUXTRACE_INFO, COMM..., AUXTRACE + payload, ..., FINISHED_ROUND
 *   features      a section (offset, size) for each bit in the header, then their contents
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PERF_MAGIC	   0x32454c4946524550ull /* "PERFILE2" */
#define PERF_MAGIC_SWAPPED 0x50455246494c4532ull /* the same, written by the other endianness */
#define PERF_PIPE_HEADER   16u			 /* header size of `perf record -o -` */
#define PERF_FEATURE_BITS  256

enum perf_feature {
	PERF_FEAT_HOSTNAME = 3,
	PERF_FEAT_OSRELEASE = 4,
	PERF_FEAT_ARCH = 6,
	PERF_FEAT_NRCPUS = 7,
	PERF_FEAT_EVENT_DESC = 12,
	PERF_FEAT_CUT = PERF_FEATURE_BITS - 1, /* not perf's, which ignores it: perfcheck.h */
};

enum perf_record_type {
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_MMAP2 = 10,
	PERF_ITRACE_START = 12,
	PERF_SWITCH = 14,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE_INFO = 70,
	PERF_AUXTRACE = 71,
};

struct perf_section {
	uint64_t offset, size;
};

struct perf_header {
	uint64_t magic;
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of one entry of attrs */
	struct perf_section attrs, data, event_types;
	uint64_t features[PERF_FEATURE_BITS / 64];
};

_Static_assert(sizeof(struct perf_header) == 104, "perf's header is 104 bytes");

/* Has ocular-fsck repaired this file, and dropped records? */
static inline bool perf_was_cut(const struct perf_header *h)
{
	return h->features[PERF_FEAT_CUT / 64] >> PERF_FEAT_CUT % 64 & 1;
}

/* perf_event_attr as of PERF_ATTR_SIZE_VER7; what we leave zero has no name. */
struct perf_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t sample_period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;
	uint64_t rest[10];
};

#define PERF_ATTR_SIZE		 128u
#define PERF_ATTR_DISABLED	 (1ull << 0)
#define PERF_ATTR_EXCLUDE_KERNEL (1ull << 5)
#define PERF_ATTR_EXCLUDE_HV	 (1ull << 6)
#define PERF_ATTR_MMAP		 (1ull << 8)
#define PERF_ATTR_COMM		 (1ull << 9)
#define PERF_ATTR_TASK		 (1ull << 13)
#define PERF_ATTR_SAMPLE_ID	 (1ull << 18) /* sample_id_all */
#define PERF_ATTR_MMAP2		 (1ull << 23)
#define PERF_ATTR_CONTEXT_SWITCH (1ull << 26)
#define PERF_SAMPLE_IP		 (1ull << 0)
#define PERF_SAMPLE_TID		 (1ull << 1)
#define PERF_SAMPLE_TIME	 (1ull << 2)
#define PERF_SAMPLE_CPU		 (1ull << 7)
#define PERF_SAMPLE_IDENTIFIER	 (1ull << 16)

_Static_assert(sizeof(struct perf_attr) == PERF_ATTR_SIZE, "PERF_ATTR_SIZE_VER7");

struct perf_attr_entry {
	struct perf_attr attr;
	struct perf_section ids;
};

struct perf_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* with this header; an AUXTRACE's payload is not counted */
};

/* Ends each record of the kernel's kind; the attribute's sample_type says which fields it has. */
struct perf_sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

#define PERF_COMM_SIZE 16

struct perf_comm {
	struct perf_record header;
	uint32_t pid, tid;
	char comm[PERF_COMM_SIZE];
	struct perf_sample_id id;
};

/* FORK and EXIT: of a process, or of a thread in it. */
struct perf_task {
	struct perf_record header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	struct perf_sample_id id;
};

/* An executable mapping. perf takes the program's instructions from the file. */
struct perf_mmap2 {
	struct perf_record header;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char file[]; /* with its 0, filled up to 8 bytes; then struct perf_sample_id */
};

struct perf_itrace_start {
	struct perf_record header;
	uint32_t pid, tid;
	struct perf_sample_id id;
};

/* A thread comes to a CPU, or leaves it (PERF_MISC_SWITCH_OUT): its id says which. */
struct perf_switch {
	struct perf_record header;
	struct perf_sample_id id;
};

#define PERF_MISC_USER	     2u
#define PERF_MISC_SWITCH_OUT (1u << 13)

/* What perf calls priv[] in an intel_pt AUXTRACE_INFO. */
enum intel_pt_info {
	PT_PMU_TYPE,
	PT_TIME_SHIFT,
	PT_TIME_MULT,
	PT_TIME_ZERO,
	PT_CAP_USER_TIME_ZERO,
	PT_TSC_BIT,
	PT_NORETCOMP_BIT,
	PT_HAVE_SCHED_SWITCH,
	PT_SNAPSHOT_MODE,
	PT_PER_CPU_MMAPS,
	PT_MTC_BIT,
	PT_MTC_FREQ_BITS,
	PT_TSC_CTC_N,
	PT_TSC_CTC_D,
	PT_CYC_BIT,
	PT_MAX_NONTURBO_RATIO,
	PT_FILTER_STR_LEN,
	PT_INFO_COUNT,
};

#define PERF_AUXTRACE_INTEL_PT 1u

/*
 * The PMU of traces that no processor wrote. PMU numbers are assigned at boot, and perf only compares this one with
 * AUXTRACE_INFO's. A number that no machine reaches keeps perf from taking our event for one of the analysing machine's
 * PMUs.
 */
#define PT_PMU_NONE 4096u

struct perf_auxtrace_info {
	struct perf_record header;
	uint32_t type; /* PERF_AUXTRACE_INTEL_PT */
	uint32_t reserved;
	uint64_t priv[PT_INFO_COUNT];
};

struct perf_auxtrace {
	struct perf_record header;
	uint64_t size;	    /* of the payload that follows */
	uint64_t offset;    /* of the payload in its queue */
	uint64_t reference; /* a TSC near the payload's; perf drops the payload if it is 0 */
	uint32_t idx;	    /* the queue */
	uint32_t tid;
	uint32_t cpu; /* -1: the queue is a thread's */
	uint32_t reserved;
};

/* Bits of attr.config, /sys/bus/event_source/devices/intel_pt/format. */
#define PT_CONFIG_PT	     (1ull << 0)
#define PT_CONFIG_CYC	     (1ull << 1)
#define PT_CONFIG_CYC_THRESH (15ull << 19)
#define PT_CONFIG_FUP_ON_PTW (1ull << 5)
#define PT_CONFIG_MTC	     (1ull << 9)
#define PT_CONFIG_TSC	     (1ull << 10)
#define PT_CONFIG_NORETCOMP  (1ull << 11)
#define PT_CONFIG_PTW	     (1ull << 12)
#define PT_CONFIG_BRANCH     (1ull << 13)
#define PT_CONFIG_MTC_PERIOD (0xfull << 14)
