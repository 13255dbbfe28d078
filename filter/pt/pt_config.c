// SPDX-License-Identifier: MIT
/* The rules are perf's, including its guesses where the file says nothing. */
#include "pt_config.h"

#include <errno.h>
#include <stdio.h>

#include "only_perf.h"

#define BUS_CLOCK 100000000ull /* Hz: the unit of the ratios */
#define SECOND	  1000000000ull

static const struct perf_attr *pt_attr(const struct perf_file *f, uint32_t pmu)
{
	for (uint32_t i = 0; i < f->nattrs; i++)
		if (f->attrs[i].type == pmu)
			return &f->attrs[i];
	return &f->attrs[0]; /* not reached: perfcheck saw one */
}

static bool all_have_time(const struct perf_file *f)
{
	for (uint32_t i = 0; i < f->nattrs; i++)
		if (!(f->attrs[i].sample_type & PERF_SAMPLE_TIME))
			return false;
	return true;
}

static bool some_sample_trace(const struct perf_file *f)
{
	for (uint32_t i = 0; i < f->nattrs; i++)
		if (f->attrs[i].sample_type & PERF_SAMPLE_AUX && ATTR_AUX_SAMPLE(&f->attrs[i]))
			return true;
	return false;
}

/* The emulator tells when threads migrate, but not when they wait. */
static bool has_switches(const struct perf_file *f, uint32_t pmu)
{
	bool found = false;

	for (uint32_t i = 0; i < f->nattrs; i++)
		found |= f->attrs[i].flags & PERF_ATTR_CONTEXT_SWITCH;
	return found && pmu != PT_PMU_NONE;
}

/* "Maximum non-turbo ratio is TSC freq / 100 MHz" if the file does not have it. */
static unsigned guess_ratio(const struct pt_clocks *c)
{
	uint64_t hz = ((SECOND / c->conv.mult) << c->conv.shift) +
		      ((SECOND % c->conv.mult) << c->conv.shift) / c->conv.mult;

	return (hz + BUS_CLOCK / 2) / BUS_CLOCK;
}

/* SDM, IA32_RTIT_CTL.CycThresh: 1 means one cycle, which is no threshold either. */
static uint32_t apart(uint64_t config)
{
	unsigned thresh = (config & PT_CONFIG_CYC_THRESH) >> __builtin_ctzll(PT_CONFIG_CYC_THRESH);

	return thresh > 1 && config & PT_CONFIG_CYC ? 1u << (thresh - 1) : 0;
}

static void read_clocks(struct pt_clocks *c, const uint64_t *priv, uint64_t config)
{
	uint64_t freq = priv[PT_MTC_FREQ_BITS];

	*c = (struct pt_clocks){
		.conv.shift = priv[PT_TIME_SHIFT],
		.conv.mult = priv[PT_TIME_MULT],
		.conv.zero = priv[PT_TIME_ZERO],
		.max_ratio = priv[PT_MAX_NONTURBO_RATIO],
		.mtc_shift = freq ? (config & freq) >> __builtin_ctzll(freq) : 0,
		.ctc_num = priv[PT_TSC_CTC_N],
		.ctc_den = priv[PT_TSC_CTC_N] ? priv[PT_TSC_CTC_D] : 0,
	};
}

int pt_config_read(struct pt_config *c, const struct perf_file *f, const struct perf_auxtrace_info *info, char *error)
{
	const uint64_t *priv = info->priv;
	const struct perf_attr *attr = pt_attr(f, priv[PT_PMU_TYPE]);
	uint64_t config = attr->config;
	const char *why;

	*c = (struct pt_config){
		.switches = priv[PT_HAVE_SCHED_SWITCH],
		.timed = priv[PT_TSC_BIT] & config,
		.kernel = !(attr->flags & PERF_ATTR_EXCLUDE_KERNEL),
		.per_cpu = priv[PT_PER_CPU_MMAPS],
		.sampled = some_sample_trace(f),
		.emulated = priv[PT_PMU_TYPE] == PT_PMU_NONE,
		.switched = has_switches(f, priv[PT_PMU_TYPE]),
		.may_overlap = priv[PT_SNAPSHOT_MODE] || some_sample_trace(f),
		.branches = !(config & PT_CONFIG_PT) || config & PT_CONFIG_BRANCH,
		.ptwrite = config & PT_CONFIG_PTW,
		.cycles = config & PT_CONFIG_CYC,
		.cycles_apart = apart(config),
	};
	c->compressed = c->branches && !(config & priv[PT_NORETCOMP_BIT]) && !priv[PT_FILTER_STR_LEN];
	read_clocks(&c->clocks, priv, config);
	c->converts = priv[PT_CAP_USER_TIME_ZERO] && c->clocks.conv.mult && all_have_time(f);
	why = only_perf(c, NULL);
	if (why) {
		snprintf(error, PERF_FILE_ERROR, "%s", why);
		return -EOPNOTSUPP;
	}
	if (!c->clocks.max_ratio)
		c->clocks.max_ratio = guess_ratio(&c->clocks);
	return 0;
}
