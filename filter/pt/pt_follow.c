// SPDX-License-Identifier: MIT
/* Both passes over the file's records at once, since what they need has come before it is asked for. */
#include "pt_follow.h"

void pt_follow_begin(struct pt_follow *f, struct pt_trace *t, const struct pt_feed *feed)
{
	f->trace = t;
	f->found = t->file.data + t->file.check.data_size;
	perf_records_init(&f->records, &t->file, true);
	pt_trace_begin(t, feed);
}

static int take(struct pt_follow *f, const struct perf_record *rec)
{
	uint64_t at = f->records.at;
	int err = at > f->found ? pt_trace_find(f->trace, rec, at) : 0;

	return err ?: pt_trace_side(f->trace, rec, at);
}

int pt_follow_more(struct pt_follow *f)
{
	const struct perf_record *rec;
	int more, merged, err = perf_records_more(&f->records);

	while (!err && (more = perf_records_next(&f->records, &rec)))
		err = more < 0 ? more : take(f, rec);
	merged = pt_merge_more(&f->trace->merge);
	return err ?: merged;
}

uint64_t pt_follow_next(const struct pt_follow *f)
{
	uint64_t tsc = pt_merge_next(&f->trace->merge);

	return tsc == UINT64_MAX ? tsc : tsc_ns(&f->trace->config.clocks.conv, tsc);
}

int pt_follow_until(struct pt_follow *f, uint64_t ns)
{
	return pt_trace_until(f->trace, ns);
}

int pt_follow_end(struct pt_follow *f, int err)
{
	err = err ?: perf_order_end(&f->trace->order);
	perf_records_free(&f->records);
	return pt_trace_end(f->trace, err);
}
