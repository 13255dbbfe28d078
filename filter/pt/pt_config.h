/* SPDX-License-Identifier: MIT */
/*
 * pt_config.h - how a perf.data's Intel PT was recorded: AUXTRACE_INFO and the intel_pt event.
 */
#pragma once

#include "perf_file.h"
#include "pt_time.h"

/* How the file shows which thread runs on a CPU (tools/perf/util/intel-pt.c, have_sched_switch). */
enum pt_switches {
	SWITCHES_NONE = 0,
	SWITCHES_TRACEPOINT = 1, /* sched:sched_switch; not read (only_perf.h) */
	SWITCHES_IN = 2,	 /* SWITCH of the thread that comes */
	SWITCHES_WIDE = 3,	 /* SWITCH_CPU_WIDE, which names both */
};

struct pt_config {
	struct pt_clocks clocks;
	enum pt_switches switches;
	bool timed;    /* its traces have TSC packets */
	bool converts; /* and it says which nanosecond a TSC is */
	bool kernel;   /* the kernel is in the traces, too */
	bool per_cpu;
	bool may_overlap;		/* snapshots, or traces in samples */
	bool sampled;			/* traces in samples */
	bool packed;			/* compressed records were seen */
	bool emulated;			/* not written by a processor: by Ocular's recorder, or its emulator */
	bool switched;			/* the kernel was asked for a record of each thread switch */
	bool branches, ptwrite, cycles; /* which packets were asked for */
	bool compressed;		/* returns within traced code leave no TIP, but a bit of a TNT */
	uint32_t cycles_apart;		/* a CYC only after this many cycles; 0: with every packet */
};

/*
 * 0; -EOPNOTSUPP: perf can read this trace, this decoder cannot, and error[PERF_FILE_ERROR] says why (only_perf.h).
 * info: as in the file, padded with zeros.
 */
int pt_config_read(struct pt_config *c, const struct perf_file *f, const struct perf_auxtrace_info *info, char *error);
