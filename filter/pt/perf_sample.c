// SPDX-License-Identifier: MIT
/* A cursor over u64s; one table for each of the two orders of fields. */
#include "perf_sample.h"

#include <string.h>

struct cursor {
	const uint8_t *p, *end;
	bool ok;
};

static void skip(struct cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p))
		c->ok = false;
	else
		c->p += n;
}

static uint64_t take(struct cursor *c)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;

	skip(c, sizeof(v));
	if (c->ok)
		memcpy(&v, p, sizeof(v));
	return v;
}

/* n items of `size` bytes; n may be anything. */
static void skip_items(struct cursor *c, uint64_t n, uint64_t size)
{
	skip(c, n > UINT16_MAX ? UINT64_MAX : n * size);
}

static void take_id(struct cursor *c, struct perf_sample *s)
{
	s->id = take(c);
}

static void take_task(struct cursor *c, struct perf_sample *s)
{
	uint64_t v = take(c);

	s->pid = v;
	s->tid = v >> 32;
}

static void take_time(struct cursor *c, struct perf_sample *s)
{
	s->time = take(c);
}

static void take_cpu(struct cursor *c, struct perf_sample *s)
{
	s->cpu = take(c); /* the upper half is reserved */
}

static void take_any(struct cursor *c, struct perf_sample *s)
{
	(void)s;
	take(c);
}

struct field {
	uint64_t bit;
	void (*take)(struct cursor *c, struct perf_sample *s);
};

#define NFIELDS(fields) (sizeof(fields) / sizeof(fields[0]))

/* At the end of a record. */
static const struct field trailer[] = {
	{ PERF_SAMPLE_TID, take_task },	     { PERF_SAMPLE_TIME, take_time }, { PERF_SAMPLE_ID, take_id },
	{ PERF_SAMPLE_STREAM_ID, take_any }, { PERF_SAMPLE_CPU, take_cpu },   { PERF_SAMPLE_IDENTIFIER, take_id },
};

/* At the beginning of a SAMPLE. */
static const struct field head[] = {
	{ PERF_SAMPLE_IDENTIFIER, take_id }, { PERF_SAMPLE_IP, take_any },   { PERF_SAMPLE_TID, take_task },
	{ PERF_SAMPLE_TIME, take_time },     { PERF_SAMPLE_ADDR, take_any }, { PERF_SAMPLE_ID, take_id },
	{ PERF_SAMPLE_STREAM_ID, take_any }, { PERF_SAMPLE_CPU, take_cpu },  { PERF_SAMPLE_PERIOD, take_any },
};

static void take_fields(struct cursor *c, uint64_t type, const struct field *fields, size_t n, struct perf_sample *s)
{
	for (size_t i = 0; i < n; i++)
		if (type & fields[i].bit)
			fields[i].take(c, s);
}

static void skip_read(struct cursor *c, const struct perf_attr *a)
{
	uint64_t format = a->read_format;
	unsigned times = __builtin_popcount(format & PERF_READ_TIMES);
	unsigned value = 1 + !!(format & PERF_READ_ID) + !!(format & PERF_READ_LOST);
	uint64_t n = format & PERF_READ_GROUP ? take(c) : 1;

	skip(c, times * 8);
	skip_items(c, n, value * 8);
}

static void skip_raw(struct cursor *c)
{
	uint32_t size = 0;

	if (c->end - c->p >= (ptrdiff_t)sizeof(size))
		memcpy(&size, c->p, sizeof(size));
	skip(c, sizeof(size) + (uint64_t)size);
}

static void skip_regs(struct cursor *c, uint64_t mask)
{
	if (take(c)) /* ABI; 0: no registers */
		skip(c, __builtin_popcountll(mask) * 8);
}

static void skip_stack(struct cursor *c)
{
	uint64_t size = take(c);

	if (size) {
		skip(c, size);
		take(c); /* how much of it is used */
	}
}

/* The fields between PERIOD and AUX; most of varying size. */
static void skip_to_aux(struct cursor *c, const struct perf_attr *a)
{
	const uint64_t words = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE |
			       PERF_SAMPLE_CODE_PAGE;
	uint64_t type = a->sample_type;

	if (type & PERF_SAMPLE_READ)
		skip_read(c, a);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_items(c, take(c), 8);
	if (type & PERF_SAMPLE_RAW)
		skip_raw(c);
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t n = take(c);

		skip(c, ATTR_BRANCH_TYPE(a) & PERF_BRANCH_HW_INDEX ? 8 : 0);
		skip_items(c, n, 24);
	}
	if (type & PERF_SAMPLE_REGS_USER)
		skip_regs(c, ATTR_REGS_USER(a));
	if (type & PERF_SAMPLE_STACK_USER)
		skip_stack(c);
	for (uint64_t bits = type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
				     PERF_SAMPLE_TRANSACTION);
	     bits; bits &= bits - 1)
		take(c);
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_regs(c, ATTR_REGS_INTR(a));
	skip(c, __builtin_popcountll(type & words) * 8);
}

static void read_sample(const struct perf_file *f, const struct perf_record *rec, struct cursor *c,
			struct perf_sample *s)
{
	const struct perf_attr *a = perf_file_attr(f, 0);

	if (a->sample_type & PERF_SAMPLE_IDENTIFIER) {
		struct cursor at_id = *c;

		a = perf_file_attr(f, take(&at_id));
	}
	take_fields(c, a->sample_type, head, NFIELDS(head), s);
	if (!(a->sample_type & PERF_SAMPLE_AUX))
		return;
	skip_to_aux(c, a);
	s->aux_size = take(c);
	s->aux_at = c->p - (const uint8_t *)rec;
	skip(c, s->aux_size);
}

static void read_trailer(const struct perf_file *f, struct cursor *c, struct perf_sample *s)
{
	const struct perf_attr *a = perf_file_attr(f, 0);
	uint64_t type, size = 0, id;

	if (!(a->flags & PERF_ATTR_SAMPLE_ID))
		return;
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER && c->end - c->p >= 8) {
		memcpy(&id, c->end - 8, sizeof(id));
		a = perf_file_attr(f, id);
	}
	type = a->sample_type;
	for (size_t i = 0; i < NFIELDS(trailer); i++)
		size += type & trailer[i].bit ? 8 : 0;
	if (size > (uint64_t)(c->end - c->p)) {
		c->ok = false;
		return;
	}
	c->p = c->end - size;
	take_fields(c, type, trailer, NFIELDS(trailer), s);
}

bool perf_sample_read(const struct perf_file *f, const struct perf_record *rec, struct perf_sample *s)
{
	struct cursor c = { (const uint8_t *)(rec + 1), (const uint8_t *)rec + rec->size, true };

	*s = (struct perf_sample){ .pid = -1, .tid = -1, .cpu = -1 };
	if (rec->type == PERF_SAMPLE)
		read_sample(f, rec, &c, s);
	else
		read_trailer(f, &c, s);
	return c.ok;
}
