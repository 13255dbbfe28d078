// SPDX-License-Identifier: MIT
/* A table of reasons, the first that holds is told. What perf does: tools/perf/util/intel-pt.c. */
#include "only_perf.h"

#include <stddef.h>

typedef bool (*condition)(const struct pt_config *c, const struct only_perf_codes *codes);

static bool no_times(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)codes;
	return !c->timed;
}

static bool unknown_clock(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)codes;
	return !c->converts;
}

static bool impossible_clock(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)codes;
	return c->clocks.conv.shift > 32 || c->clocks.mtc_shift > 15;
}

static bool tracepoints(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)codes;
	return c->switches == SWITCHES_TRACEPOINT;
}

static bool packed_samples(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)codes;
	return c->packed && c->sampled;
}

static bool emulated(const struct pt_config *c, const struct only_perf_codes *codes)
{
	(void)c;
	return codes->emulated;
}

/* perf then looks for the address of the kernel's __switch_to among the branches (intel_pt_switch_ip). */
static bool kernel_switches(const struct pt_config *c, const struct only_perf_codes *codes)
{
	return c->kernel && c->branches && c->per_cpu && c->switches == SWITCHES_WIDE && !c->sampled && !codes->opcodes;
}

static const struct {
	condition holds;
	bool readable; /* by ocular-pt, but perf tells more */
	const char *why;
} reasons[] = {
	{ no_times, false, "was recorded without times: ask perf record for intel_pt/tsc/" },
	{ unknown_clock, false, "does not say how to read its times" },
	{ impossible_clock, false, "names an impossible clock" },
	{ tracepoints, false, "has thread switches as sched:sched_switch events" },
	{ packed_samples, false, "has its traces in compressed samples" },
	{ emulated, true, "has its markers as branches (backend emulated)" },
	{ kernel_switches, true, "has the kernel's branches, which tell when a CPU changes threads" },
};

const char *only_perf(const struct pt_config *c, const struct only_perf_codes *codes)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if ((codes || !reasons[i].readable) && reasons[i].holds(c, codes))
			return reasons[i].why;
	return NULL;
}
