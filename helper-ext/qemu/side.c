/* SPDX-License-Identifier: MIT */
/*
 * side.c - see side.h. One write(2) for each record, at the end of the file, so that processes do not disturb each
 * other.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/perfdata.h"
#include "side.h"

static struct perf_sample_id id_of(const struct side *s)
{
	return perfdata_id(s->pid, s->tid, s->cpu, s->tsc);
}

static void append(const struct side *s, const void *record, size_t size)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->spools, SIDE_FILE);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, record, size) < 0)
		(void)!ftruncate(fd, lseek(fd, 0, SEEK_END) & ~7); /* a full disk is noticed elsewhere */
	close(fd);
}

void side_comm(const struct side *s, const char *comm)
{
	struct perf_comm rec = {
		.header = { PERF_COMM, 0, sizeof(rec) },
		.pid = s->pid,
		.tid = s->tid,
		.id = id_of(s),
	};

	strncpy(rec.comm, comm, sizeof(rec.comm) - 1);
	append(s, &rec, sizeof(rec));
}

void side_mmap(const struct side *s, uint64_t start, uint64_t size, uint64_t offset, const char *file)
{
	struct {
		struct perf_mmap2 map;
		char rest[PATH_MAX + 8 + sizeof(struct perf_sample_id)];
	} rec = { .map = {
			  .header = { PERF_MMAP2, PERF_MISC_USER, 0 },
			  .pid = s->pid,
			  .tid = s->pid,
			  .start = start,
			  .size = size,
			  .offset = offset,
			  .prot = PROT_READ | PROT_EXEC,
			  .flags = MAP_PRIVATE,
		  } };
	const struct perf_sample_id id = id_of(s);
	size_t length = strnlen(file, PATH_MAX), padded = (length / 8 + 1) * 8;
	struct stat st;

	if (stat(file, &st) == 0) {
		rec.map.major = (uint32_t)(st.st_dev >> 8 & 0xfff);
		rec.map.minor = (uint32_t)(st.st_dev & 0xff);
		rec.map.inode = st.st_ino;
	}
	memcpy(rec.map.file, file, length);
	memcpy(rec.map.file + padded, &id, sizeof(id));
	rec.map.header.size = (uint16_t)(sizeof(rec.map) + padded + sizeof(id));
	append(s, &rec, rec.map.header.size);
}

void side_fork(const struct side *s, uint32_t parent)
{
	const struct perf_task rec = {
		.header = { PERF_FORK, 0, sizeof(rec) },
		.pid = s->pid,
		.ppid = parent,
		.tid = s->tid,
		.ptid = parent,
		.time = s->tsc,
		.id = id_of(s),
	};

	append(s, &rec, sizeof(rec));
}

void side_start(const struct side *s)
{
	const struct perf_itrace_start rec = {
		.header = { PERF_ITRACE_START, 0, sizeof(rec) },
		.pid = s->pid,
		.tid = s->tid,
		.id = id_of(s),
	};

	append(s, &rec, sizeof(rec));
}

/* include/uapi/linux/perf_event.h: PERF_RECORD_AUX */
#define PERF_AUX 11

struct aux_record {
	struct perf_record header;
	uint64_t offset, size, flags;
	struct perf_sample_id id;
};

void side_aux(const struct side *s, uint64_t offset, uint64_t size, uint64_t flags)
{
	const struct aux_record rec = {
		{ PERF_AUX, 0, sizeof(rec) }, .offset = offset, .size = size, .flags = flags, .id = id_of(s),
	};

	append(s, &rec, sizeof(rec));
}

void side_switch(const struct side *s, int out)
{
	const struct perf_switch rec = {
		.header = { PERF_SWITCH, out ? PERF_MISC_SWITCH_OUT : 0, sizeof(rec) },
		.id = id_of(s),
	};

	append(s, &rec, sizeof(rec));
}
