/* SPDX-License-Identifier: MIT */
/* recording.c - see recording.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common_clock.h"
#include "core.h"
#include "numbering.h"
#include "record/perfdata.h"
#include "recording.h"
#include "side.h"
#include "truth.h"

int recording_open(struct recording *r, const char *dir)
{
	int err;

	*r = (struct recording){ .bytes = 0 };
	err = folder_create(&r->folder, dir);
	if (err)
		return err;
	if (snprintf(r->spools, sizeof(r->spools), "%s/%s", r->folder.path, RECORDING_SPOOLS) >= (int)sizeof(r->spools))
		return -ENAMETOOLONG;
	if (mkdir(r->spools, 0700) < 0 || !clock_make(r->spools, CORE_TSC_ZERO))
		return -errno;
	return 0;
}

static int is_spool(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

static void remove_spools(const char *spools)
{
	struct dirent *entry;
	DIR *d = opendir(spools);

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(spools);
}

void recording_cancel(struct recording *r)
{
	remove_spools(r->spools);
	folder_cancel(&r->folder);
}

#define SWITCH_RECORDS 2 /* PT_HAVE_SCHED_SWITCH: PERF_RECORD_SWITCH says who runs (intel-pt.c) */

/* --- what the file says of itself -------------------------------------------------------------------- */

static void name_event(char *name, size_t size, const struct settings *s)
{
	char thresh[32] = "";

	if (s->cyc_thresh)
		snprintf(thresh, sizeof(thresh), "cyc_thresh=%d,", (int)s->cyc_thresh);
	snprintf(name, size, "intel_pt/tsc,%s%s%s%sptw,branch=%d%s/u", s->cyc ? "cyc," : "", thresh,
		 s->mtc ? "mtc," : "", s->noretcomp ? "noretcomp," : "", (int)s->branch,
		 s->fup_on_ptw ? ",fup_on_ptw" : "");
}

static uint64_t config_of(const struct settings *s)
{
	return PT_CONFIG_PT | PT_CONFIG_TSC | PT_CONFIG_PTW | (s->branch ? PT_CONFIG_BRANCH : 0) |
	       (s->cyc ? PT_CONFIG_CYC : 0) | s->cyc_thresh << __builtin_ctzll(PT_CONFIG_CYC_THRESH) |
	       (s->noretcomp ? PT_CONFIG_NORETCOMP : 0) | (s->fup_on_ptw ? PT_CONFIG_FUP_ON_PTW : 0) |
	       (s->mtc ? PT_CONFIG_MTC | s->mtc_period << __builtin_ctzll(PT_CONFIG_MTC_PERIOD) : 0);
}

static int create(struct perfdata *pd, const struct recording *r, const struct settings *s)
{
	char name[160], filter[PERFDATA_FILTER_MAX - 8];
	const struct time_conv nanoseconds = { .shift = 0, .mult = 1, .zero = 0 };
	struct perfdata_event ev = {
		.name = name,
		.config = config_of(s),
		.priv = {
			[PT_PMU_TYPE] = PT_PMU_NONE,
			[PT_CAP_USER_TIME_ZERO] = 1,
			[PT_TSC_BIT] = PT_CONFIG_TSC,
			[PT_NORETCOMP_BIT] = PT_CONFIG_NORETCOMP,
			[PT_MTC_BIT] = PT_CONFIG_MTC,
			[PT_MTC_FREQ_BITS] = PT_CONFIG_MTC_PERIOD,
			[PT_TSC_CTC_N] = CORE_CTC,
			[PT_TSC_CTC_D] = 1,
			[PT_CYC_BIT] = PT_CONFIG_CYC,
			[PT_MAX_NONTURBO_RATIO] = CORE_RATIO,
			[PT_SNAPSHOT_MODE] = s->snapshot != 0,
			[PT_HAVE_SCHED_SWITCH] = s->migrate ? SWITCH_RECORDS : 0,
			[PT_PER_CPU_MMAPS] = s->migrate != 0,
		},
		.flags = s->migrate ? PERF_ATTR_CONTEXT_SWITCH : 0,
	};

	_Static_assert(CORE_TSC_HZ == 1000000000ull, "a tick is a nanosecond");
	name_event(name, sizeof(name), s);
	ranges_text(&s->filter, filter, sizeof(filter));
	ev.filter = filter[0] ? filter : NULL;
	perfdata_create_event(pd, r->folder.fd, FOLDER_DATA, &ev);
	return perfdata_clock(pd, &nanoseconds);
}

/* --- the spools, one after the other ----------------------------------------------------------------- */

/* May be changed: the file will be removed. */
static void *map_file(const char *folder, const char *name, size_t *size)
{
	char path[PATH_MAX];
	struct stat st = { 0 };
	void *p = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	*size = (size_t)st.st_size;
	return p == MAP_FAILED ? NULL : p;
}

/* Complete records only: a killed process, or a full disk, may have left part of one. */
static void add_side(struct perfdata *pd, const char *spools, const struct numbering *g)
{
	size_t size, at = 0;
	uint8_t *p = map_file(spools, SIDE_FILE, &size);
	struct perf_record rec;

	while (p && at + sizeof(rec) <= size) {
		memcpy(&rec, p + at, sizeof(rec));
		if (rec.size < sizeof(rec) || rec.size > size - at)
			break;
		at += rec.size;
	}
	if (at) {
		numbering_side(g, p, at);
		perfdata_records(pd, p, at);
	}
	if (p)
		munmap(p, size);
}

static struct aux_chunk chunk_of(const struct spool_head *head, uint32_t idx)
{
	return (struct aux_chunk){
		.idx = idx,
		.tid = head->tid,
		.reference = head->tsc,
		.of_cpu = head->cpu != UINT32_MAX,
		.cpu = head->cpu,
	};
}

/* A packet may end with this many zeros: a PTW's payload. More of them are PADs, with which a window ends. */
#define ZEROS_MOST 8u

/* Of a window, without the PADs that it ends with; a record has a multiple of 8 bytes. */
static uint64_t without_pads(const uint8_t *window, uint64_t size)
{
	uint64_t end = size;

	while (end && !window[end - 1])
		end--;
	end = (end + ZEROS_MOST + 7) & ~7ull;
	return end < size ? end : size;
}

/*
 * One record for each. If AUX records say what was truncated (full=N) they name places in the buffer, and nothing is
 * cut off; otherwise a place is the sum of the earlier sizes. Returns the bytes of all.
 */
static uint64_t add_windows(struct perfdata *pd, const struct spool_head *head, const uint8_t *packets, uint32_t idx,
			    bool in_place)
{
	struct aux_chunk chunk = chunk_of(head, idx);
	uint64_t bytes = 0;

	for (uint64_t at = 0; at < head->used; at += SPOOL_WINDOW) {
		uint64_t left = (head->used - at + 7) & ~7ull;
		uint64_t size = left < SPOOL_WINDOW ? left : SPOOL_WINDOW;

		chunk.offset = in_place ? at : bytes;
		chunk.bytes = packets + at;
		chunk.size = in_place ? size : without_pads(packets + at, size);
		bytes += chunk.size;
		perfdata_aux(pd, &chunk);
		madvise((void *)(packets + at), SPOOL_WINDOW, MADV_REMOVE); /* else it would be there twice */
	}
	return bytes;
}

/* The contents of a buffer of `size` bytes, overwritten again and again, when the trace has the point's length. */
static void add_snapshot(struct perfdata *pd, const struct spool_head *head, const uint8_t *packets, uint32_t idx,
			 uint64_t size, const struct spool_point *point)
{
	struct aux_chunk chunk = chunk_of(head, idx);
	uint8_t *bytes;

	size = point->used < size ? point->used : size;
	bytes = calloc(1, size + 8); /* followed by zeros: records are padded to 8 bytes */
	if (!bytes)
		return;
	memcpy(bytes, packets + point->used - size, size);
	chunk.offset = point->used - size;
	chunk.reference = point->tsc;
	chunk.bytes = bytes;
	chunk.size = (size + 7) & ~7ull;
	perfdata_aux(pd, &chunk);
	free(bytes);
}

static void add_snapshots(struct perfdata *pd, const struct spool_head *head, const uint8_t *packets, uint32_t idx,
			  uint64_t size)
{
	const struct spool_point end = { head->used, head->now };

	for (uint64_t i = 0; i < head->npoints; i++)
		add_snapshot(pd, head, packets, idx, size, &head->points[i]);
	if (!head->npoints || head->points[head->npoints - 1].used < end.used)
		add_snapshot(pd, head, packets, idx, size, &end);
}

static void add_spool(struct recording *r, struct perfdata *pd, const char *name, const struct settings *set,
		      const struct numbering *g)
{
	size_t size;
	const uint8_t *file = map_file(r->spools, name, &size);
	struct spool_head head;
	uint64_t bytes = 0;

	if (!file)
		return;
	if (size >= SPOOL_HEAD + SPOOL_WINDOW) {
		memcpy(&head, file, sizeof(head));
		if (head.used > size - SPOOL_HEAD)
			head.used = size - SPOOL_HEAD;
		head.tid = numbering_of(g, head.tid);
		if (set->snapshot)
			add_snapshots(pd, &head, file + SPOOL_HEAD, r->threads, set->snapshot);
		else
			bytes = add_windows(pd, &head, file + SPOOL_HEAD, r->threads, set->full);
		if (set->truth)
			truth_trace(r->spools, r->threads, &head);
		r->threads++;
		r->bytes += set->snapshot ? head.used : bytes;
		r->lost += head.lost;
	}
	munmap((void *)file, size);
}

/* Copied, because it may go to another file system. */
static int move_truth(const struct recording *r, const char *to)
{
	size_t size;
	const void *p = map_file(r->spools, TRUTH_FILE, &size);
	FILE *f = fopen(to, "we");
	int err = !f || (p && fwrite(p, 1, size, f) != size) ? -errno : 0;

	if (f && fclose(f) && !err)
		err = -errno;
	if (p)
		munmap((void *)p, size);
	return err;
}

/* Empty, if the kernel's names are kept. */
static int number(const struct recording *r, struct dirent **names, int n, const struct settings *set,
		  struct numbering *g)
{
	int err = 0;

	*g = (struct numbering){ 0 };
	for (int i = 0; set->numbered && i < n && !err; i++) {
		size_t size;
		struct spool_head *head = map_file(r->spools, names[i]->d_name, &size);

		if (head && size >= SPOOL_HEAD)
			err = numbering_add(g, head);
		if (head)
			munmap(head, size);
	}
	numbering_sort(g);
	return err ? err : numbering_tables(g, r->folder.fd);
}

int recording_finish(struct recording *r, const struct settings *set, const char *truth)
{
	struct dirent **names;
	struct numbering g;
	struct perfdata pd;
	int n = scandir(r->spools, &names, is_spool, alphasort);
	int err, renamed;

	if (n < 0)
		return -errno;
	renamed = number(r, names, n, set, &g);
	create(&pd, r, set); /* perfdata_close() returns the first error of all */
	add_side(&pd, r->spools, &g);
	for (int i = 0; i < n; i++) {
		add_spool(r, &pd, names[i]->d_name, set, &g);
		free(names[i]);
	}
	free(names);
	numbering_free(&g);
	err = perfdata_close(&pd);
	err = err ? err : renamed;
	if (truth && !err)
		err = move_truth(r, truth);
	remove_spools(r->spools);
	return err;
}
