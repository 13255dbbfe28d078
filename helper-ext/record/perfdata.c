/* SPDX-License-Identifier: MIT */
/*
 * perfdata.c - a perf.data as `perf record -e intel_pt/tsc,cyc,ptw,branch=0/ --per-thread` leaves it, without what perf
 * does not need. The layout is fixed up to the first record, so the head of the file is one struct.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shared/perf_format.h"
#include "perfdata.h"
#include "perffeat.h"
#include "shared/array.h"

#define EVENT_ID 1u

struct file_head {
	struct perf_header header;
	uint64_t id;
	struct perf_attr_entry attr;
	struct perf_auxtrace_info info;
};

#define DATA_OFFSET offsetof(struct file_head, info)

static const struct file_head file_head = {
	.header = {
		.magic = PERF_MAGIC,
		.size = sizeof(struct perf_header),
		.attr_size = sizeof(struct perf_attr_entry),
		.attrs = { offsetof(struct file_head, attr), sizeof(struct perf_attr_entry) },
		.data = { DATA_OFFSET, sizeof(struct perf_auxtrace_info) },
	},
	.id = EVENT_ID,
	.attr = {
		.attr = {
			.type = PT_PMU_NONE,
			.size = PERF_ATTR_SIZE,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
			.flags = PERF_ATTR_DISABLED | PERF_ATTR_EXCLUDE_KERNEL |
				 PERF_ATTR_EXCLUDE_HV | PERF_ATTR_SAMPLE_ID,
		},
		.ids = { offsetof(struct file_head, id), sizeof(uint64_t) },
	},
	.info = {
		.header = { PERF_AUXTRACE_INFO, 0, sizeof(struct perf_auxtrace_info) },
		.type = PERF_AUXTRACE_INTEL_PT,
	},
};

static const struct perfdata_event software = {
	.name = "intel_pt/tsc,cyc,ptw,branch=0/u",
	.config = PT_CONFIG_PT | PT_CONFIG_CYC | PT_CONFIG_TSC | PT_CONFIG_PTW,
	.priv = {
		[PT_PMU_TYPE] = PT_PMU_NONE,
		[PT_CAP_USER_TIME_ZERO] = 1,
		[PT_TSC_BIT] = PT_CONFIG_TSC,
		[PT_CYC_BIT] = PT_CONFIG_CYC,
	},
};

/* Writes all of iov at `at`. Changes iov. */
static int write_all(int fd, struct iovec *iov, int count, off_t at)
{
	while (count) {
		ssize_t n = pwritev(fd, iov, count, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		while (count && (size_t)n >= iov->iov_len) {
			n -= iov->iov_len;
			iov++, count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= n;
		}
	}
	return 0;
}

static int write_at(struct perfdata *pd, const void *bytes, size_t size, off_t at)
{
	struct iovec iov = { (void *)bytes, size };

	if (!pd->error)
		pd->error = write_all(pd->fd, &iov, 1, at);
	return pd->error;
}

/* Appends one record, then lets the header cover it. */
static int append(struct perfdata *pd, struct iovec *iov, int count)
{
	uint64_t end = pd->end, size;

	if (pd->error)
		return pd->error;
	for (int i = 0; i < count; i++)
		end += iov[i].iov_len;
	size = end - pd->data;
	pd->error = write_all(pd->fd, iov, count, pd->end);
	if (!pd->error)
		write_at(pd, &size, sizeof(size), offsetof(struct perf_header, data.size));
	if (!pd->error)
		pd->end = end;
	else if (ftruncate(pd->fd, pd->end) < 0)
		return pd->error; /* the bytes stay; the header does not cover them */
	return pd->error;
}

/* The filter follows AUXTRACE_INFO's fixed part, with its 0, up to 8 bytes. Returns its size there. */
static uint32_t filter_size(const struct perfdata_event *ev)
{
	return ev->filter ? (uint32_t)(strlen(ev->filter) / 8 + 1) * 8 : 0;
}

static int write_head(struct perfdata *pd, const struct perfdata_event *ev)
{
	struct file_head head = file_head;
	uint32_t size = filter_size(ev);
	char filter[PERFDATA_FILTER_MAX] = { 0 };

	if (size > sizeof(filter))
		return pd->error = -ENAMETOOLONG;
	memcpy(filter, ev->filter ? ev->filter : "", ev->filter ? strlen(ev->filter) : 0);
	memcpy(head.info.priv, ev->priv, sizeof(head.info.priv));
	head.info.priv[PT_FILTER_STR_LEN] = ev->filter ? strlen(ev->filter) : 0;
	head.info.header.size += size;
	head.header.data.size += size;
	head.attr.attr.config = ev->config;
	head.attr.attr.flags |= ev->flags;
	pd->attr = head.attr.attr;
	pd->event_name = ev->name;
	pd->data = DATA_OFFSET;
	pd->end = sizeof(head) + size;
	write_at(pd, &head, sizeof(head), 0);
	return size ? write_at(pd, filter, size, sizeof(head)) : pd->error;
}

int perfdata_create_event(struct perfdata *pd, int dirfd, const char *name, const struct perfdata_event *ev)
{
	*pd = (struct perfdata){ 0 };
	pd->fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (pd->fd < 0)
		return pd->error = -errno;
	return write_head(pd, ev);
}

int perfdata_create(struct perfdata *pd, int dirfd, const char *name, uint8_t ratio)
{
	struct perfdata_event ev = software;

	ev.priv[PT_MAX_NONTURBO_RATIO] = ratio;
	return perfdata_create_event(pd, dirfd, name, &ev);
}

int perfdata_clock(struct perfdata *pd, const struct time_conv *conv)
{
	const uint64_t priv[] = { conv->shift, conv->mult, conv->zero };

	struct iovec iov = { (void *)priv, sizeof(priv) };
	/* Worth trying on a full disk too: it needs no space. */
	int err = write_all(pd->fd, &iov, 1, pd->data + offsetof(struct perf_auxtrace_info, priv[PT_TIME_SHIFT]));

	if (!pd->error)
		pd->error = err;
	return err;
}

struct perf_sample_id perfdata_id(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t ns)
{
	return (struct perf_sample_id){
		.pid = pid,
		.tid = tid,
		.time = ns,
		.cpu = cpu,
		.identifier = EVENT_ID,
	};
}

int perfdata_records(struct perfdata *pd, const void *records, size_t size)
{
	struct iovec iov = { (void *)records, size };

	return append(pd, &iov, 1);
}

int perfdata_comm(struct perfdata *pd, uint32_t pid, uint32_t tid, const char *comm)
{
	struct perf_comm rec = {
		.header = { PERF_COMM, 0, sizeof(rec) },
		.pid = pid,
		.tid = tid,
		/* Time 0: in force from the beginning, wherever in the file it is. */
		.id = perfdata_id(pid, tid, UINT32_MAX, 0),
	};
	struct iovec iov = { &rec, sizeof(rec) };

	strncpy(rec.comm, comm, sizeof(rec.comm) - 1);
	return append(pd, &iov, 1);
}

int perfdata_aux(struct perfdata *pd, const struct aux_chunk *chunk)
{
	struct perf_auxtrace rec = {
		.header = { PERF_AUXTRACE, 0, sizeof(rec) },
		.size = chunk->size,
		.offset = chunk->offset,
		.reference = chunk->reference,
		.idx = chunk->idx,
		.tid = chunk->tid,
		.cpu = chunk->of_cpu ? chunk->cpu : UINT32_MAX,
	};
	struct iovec iov[] = { { &rec, sizeof(rec) }, { (void *)chunk->bytes, chunk->size } };

	if (chunk->of_cpu && chunk->cpu >= pd->ncpus)
		pd->ncpus = chunk->cpu + 1;
	return append(pd, iov, 2);
}

/*
 * The records before `cut`, except the trace, are still needed: they are written again, right before it. That is inside
 * the last dropped payload, so the records are intact whichever of their two beginnings the header names.
 */
struct keeping {
	uint64_t cut;
	uint8_t *others;
	size_t size, room;
	uint64_t payload; /* of the last record before cut */
};

static int take_other(struct perfdata *pd, struct keeping *k, uint64_t at, size_t size)
{
	if (k->size + size > k->room) {
		size_t room = 2 * (k->size + size);

		if (!ARRAY_RESIZE(k->others, room))
			return -ENOMEM;
		k->room = room;
	}
	if (pread(pd->fd, k->others + k->size, size, (off_t)at) != (ssize_t)size)
		return -EIO;
	k->size += size;
	return 0;
}

/* Continues after one more record. */
static int step(struct perfdata *pd, struct keeping *k)
{
	struct perf_auxtrace rec;
	ssize_t n = pread(pd->fd, &rec, sizeof(rec), (off_t)k->cut);
	int err = 0;

	if (n < (ssize_t)sizeof(rec.header) || rec.header.size < sizeof(rec.header))
		return -EIO;
	k->payload = rec.header.type == PERF_AUXTRACE ? rec.size : 0;
	if (!k->payload)
		err = take_other(pd, k, k->cut, rec.header.size);
	k->cut += rec.header.size + k->payload;
	return err;
}

static int begin_at(struct perfdata *pd, const struct keeping *k)
{
	struct perf_section data = { k->cut - k->size, pd->end - (k->cut - k->size) };
	uint64_t hole = DATA_OFFSET;

	write_at(pd, k->others, k->size, (off_t)data.offset);
	if (!write_at(pd, &data, sizeof(data), offsetof(struct perf_header, data)))
		pd->data = data.offset;
	if (!pd->error &&
	    fallocate(pd->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)hole, (off_t)(pd->data - hole)))
		return -errno;
	return pd->error;
}

int perfdata_keep(struct perfdata *pd, uint64_t bytes)
{
	struct keeping k = { .cut = pd->data };
	int err = pd->error;

	if (err || pd->end - pd->data <= bytes)
		return err;
	while (!err && k.cut < pd->end && (pd->end - k.cut + k.size > bytes || k.payload < k.size))
		err = step(pd, &k);
	if (!err && k.cut < pd->end)
		err = begin_at(pd, &k);
	free(k.others);
	return err ? err : k.cut < pd->end;
}

/* After the data, where nothing more will come; the header is updated last. */
static void write_features(struct perfdata *pd)
{
	struct perffeat f;

	perffeat_build(&f, pd->end, &(struct perffeat_of){ &pd->attr, EVENT_ID, pd->event_name, pd->ncpus });
	if (write_at(pd, f.bytes, f.size, pd->end) == 0)
		write_at(pd, f.bits, sizeof(f.bits), offsetof(struct perf_header, features));
}

bool perfdata_is_ours(int fd)
{
	const struct perf_header *ours = &file_head.header;
	struct perf_header h;
	ssize_t n = pread(fd, &h, sizeof(h), 0);

	return n == 0 || (n == sizeof(h) && h.magic == ours->magic && h.attrs.offset == ours->attrs.offset &&
			  h.data.offset == ours->data.offset);
}

int perfdata_close(struct perfdata *pd)
{
	struct perf_record rec = { PERF_FINISHED_ROUND, 0, sizeof(rec) };
	struct iovec iov = { &rec, sizeof(rec) };

	append(pd, &iov, 1);
	write_features(pd);
	if (pd->fd >= 0 && close(pd->fd) < 0 && !pd->error)
		pd->error = -errno;
	pd->fd = -1;
	return pd->error;
}

uint64_t perfdata_size(const struct perfdata *pd)
{
	return pd->end - pd->data + DATA_OFFSET;
}
