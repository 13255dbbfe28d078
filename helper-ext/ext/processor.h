/* SPDX-License-Identifier: MIT */
/*
 * processor.h - what this processor and its kernel can do for a trace. Found out without trying: an unknown PTWRITE
 * raises SIGILL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROCESSOR_PT_PMU "/sys/bus/event_source/devices/intel_pt"

struct processor {
	bool pt;	     /* Intel PT: CPUID.(7,0):EBX[25] */
	bool ptwrite;	     /* the instruction: CPUID.(14H,0):EBX[4] */
	bool kernel;	     /* the kernel has a PMU for it */
	bool kernel_ptwrite; /* and would switch it on: caps/ptwrite */
	uint64_t tsc_hz;     /* from the kernel, else from CPUID leaf 15H; 0: not known */
};

/* `pmu` is the kernel's folder of the PMU (PROCESSOR_PT_PMU, or a test's). */
void processor_look(struct processor *p, const char *pmu);
