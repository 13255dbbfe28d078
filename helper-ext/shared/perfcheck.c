/* SPDX-License-Identifier: MIT */
/*
 * perfcheck.c - header, attributes, records, features: one function each, which says what is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf_format.h"
#include "perfcheck.h"
#include "read_ahead.h"

#define ATTR_SIZE_MIN 64u   /* PERF_ATTR_SIZE_VER0 */
#define ATTR_SIZE_MAX 4096u /* perf takes a page for an attribute it does not know */

struct walk {
	struct perfcheck *c;
	int fd, error;
	uint64_t size; /* of the file */
	struct perf_header header;
	struct perf_auxtrace_info info; /* header.type 0: not met yet */
	struct read_ahead *ahead;
};

__attribute__((format(printf, 3, 4))) static bool found(struct walk *w, enum perf_verdict verdict, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->c->finding, sizeof(w->c->finding), format, args);
	va_end(args);
	w->c->verdict = verdict;
	return false;
}

/* Copies the bytes at `at`. False: the file does not have them, or w->error is set. */
static bool get(struct walk *w, uint64_t at, void *to, size_t size)
{
	const void *from;
	int err = 0;

	if (at > w->size || size > w->size - at)
		return false;
	from = read_ahead_get(w->ahead, w->fd, at, size, &err);
	if (from)
		memcpy(to, from, size);
	else if (err != -ENODATA)
		w->error = err;
	return from;
}

static bool check_header(struct walk *w)
{
	uint64_t start[2] = { 0 };

	get(w, 0, start, sizeof(start));
	if (start[0] == PERF_MAGIC_SWAPPED)
		return found(w, PERF_UNUSABLE, "was recorded on a machine of the other endianness");
	if (start[0] != PERF_MAGIC)
		return found(w, PERF_UNUSABLE, "is not a perf.data");
	if (start[1] == PERF_PIPE_HEADER)
		return found(w, PERF_UNUSABLE, "was recorded into a pipe: make a file of it with perf inject -o");
	if (start[1] > sizeof(w->header))
		return found(w, PERF_UNUSABLE, "has a newer format than this program knows");
	if (!get(w, 0, &w->header, sizeof(w->header)))
		return found(w, PERF_UNUSABLE, "ends inside its header");
	return true;
}

/*
 * perf writes the attributes before the data, `perf inject` of a pipe behind it. A repair, which writes into the header
 * and behind the records that are intact, must change neither.
 */
static bool are_apart(const struct perf_header *h)
{
	const struct perf_section *attrs = &h->attrs, *data = &h->data;

	if (attrs->offset < sizeof(*h) || data->offset < sizeof(*h))
		return false;
	if (attrs->offset <= data->offset)
		return attrs->size <= data->offset - attrs->offset;
	return data->size && data->size <= attrs->offset - data->offset;
}

static bool check_attrs(struct walk *w)
{
	const struct perf_header *h = &w->header;
	uint64_t size = h->attr_size;

	if (size < ATTR_SIZE_MIN + sizeof(struct perf_section) || size > ATTR_SIZE_MAX || h->attrs.size % size ||
	    h->size != sizeof(*h))
		return found(w, PERF_UNUSABLE, "has a damaged header");
	if (h->attrs.offset > w->size || h->attrs.size > w->size - h->attrs.offset || h->data.offset > w->size)
		return found(w, PERF_UNUSABLE, "ends before its data");
	if (!are_apart(h))
		return found(w, PERF_UNUSABLE, "has a damaged header");
	return true;
}

static bool has_attr(struct walk *w, uint32_t type)
{
	const struct perf_section *attrs = &w->header.attrs;
	uint32_t t;

	for (uint64_t at = 0; at < attrs->size; at += w->header.attr_size)
		if (get(w, attrs->offset + at, &t, sizeof(t)) && t == type)
			return true;
	return false;
}

/* The record's size with its payload; 0: it is incomplete, or not a record. */
static uint64_t record_size(struct walk *w, uint64_t at, uint64_t end)
{
	union {
		struct perf_record header;
		struct perf_auxtrace aux;
		struct perf_auxtrace_info info;
	} rec;
	uint64_t size, payload = 0;

	if (!get(w, at, &rec, sizeof(rec.header)) || rec.header.size < sizeof(rec.header))
		return 0;
	size = rec.header.size;
	if (size > end - at)
		return 0;
	if (rec.header.type == PERF_AUXTRACE) {
		if (size < sizeof(rec.aux) || !get(w, at, &rec, sizeof(rec.aux)))
			return 0;
		payload = rec.aux.size;
	}
	if (payload > end - at - size)
		return 0;
	w->c->trace_size += payload;
	if (rec.header.type == PERF_AUXTRACE_INFO && size >= sizeof(rec.info))
		get(w, at, &w->info, sizeof(w->info));
	return size + payload;
}

static bool walk_records(struct walk *w)
{
	const struct perf_section *data = &w->header.data;
	/* perf writes the size last: 0 means a recording that did not end. */
	uint64_t size = data->size ? data->size : UINT64_MAX, in_file = w->size - data->offset;
	uint64_t at = data->offset, end = at + (size < in_file ? size : in_file), n;

	while (at < end && (n = record_size(w, at, end))) {
		at += n;
		w->c->records++;
	}
	w->c->data_size = at - data->offset;
	w->c->lost = end - at;
	w->c->end = at;
	if (w->c->data_size == data->size)
		return true;
	w->c->drop_features = true;
	/* perf and Ocular end with a record that is only a header. */
	w->c->cut |= !data->size || data->size - w->c->data_size > sizeof(struct perf_record);
	if (!data->size)
		return found(w, PERF_REPAIRABLE, "was not closed: %" PRIu64 " records are intact", w->c->records);
	return found(
		w, PERF_REPAIRABLE, "%s: %" PRIu64 " records are intact, %" PRIu64 " of %" PRIu64 " bytes are gone",
		size > in_file ? "was cut" : "is damaged", w->c->records, data->size - w->c->data_size, data->size);
}

/* After the data: a section for each feature bit, which says where the feature is. */
static bool check_features(struct walk *w)
{
	uint64_t at = w->header.data.offset + w->header.data.size;
	struct perf_section s;

	for (int bit = 0; bit < PERF_FEATURE_BITS; bit++) {
		if (!(w->header.features[bit / 64] >> bit % 64 & 1))
			continue;
		if (!get(w, at, &s, sizeof(s)) || s.offset > w->size || s.size > w->size - s.offset) {
			w->c->drop_features = true;
			return found(w, PERF_REPAIRABLE, "was cut after its data, which is intact");
		}
		at += sizeof(s);
	}
	return true;
}

/* Where the first of what must stay begins behind the intact records: an attribute, or its ids. UINT64_MAX: nowhere. */
static uint64_t behind_records(struct walk *w)
{
	const struct perf_section *attrs = &w->header.attrs;
	uint64_t first = attrs->offset >= w->c->end ? attrs->offset : UINT64_MAX;

	for (uint64_t at = w->header.attr_size; at <= attrs->size; at += w->header.attr_size) {
		struct perf_section ids;

		if (get(w, attrs->offset + at - sizeof(ids), &ids, sizeof(ids)) && ids.size &&
		    ids.offset >= w->c->end && ids.offset < first)
			first = ids.offset;
	}
	return first;
}

static void check_room_for_note(struct walk *w)
{
	if (w->c->verdict == PERF_REPAIRABLE && w->c->drop_features && w->c->cut &&
	    behind_records(w) - w->c->end < sizeof(struct perf_section))
		found(w, PERF_UNUSABLE, "is damaged where a repair would write its note");
}

static void check_trace(struct walk *w)
{
	if (w->info.header.type != PERF_AUXTRACE_INFO && w->c->verdict == PERF_REPAIRABLE)
		found(w, PERF_UNUSABLE, "ends before its Intel PT trace begins");
	else if (w->info.header.type != PERF_AUXTRACE_INFO || w->info.type != PERF_AUXTRACE_INTEL_PT)
		found(w, PERF_UNUSABLE, "holds no Intel PT trace");
	else if (!has_attr(w, w->info.priv[PT_PMU_TYPE]))
		found(w, PERF_UNUSABLE, "holds a trace without its intel_pt event");
}

int perfcheck_file(struct perfcheck *c, int fd)
{
	struct read_ahead ahead;
	struct walk w = { .c = c, .fd = fd, .ahead = &ahead };
	struct stat st;

	read_ahead_init(&ahead);
	*c = (struct perfcheck){ .verdict = PERF_WHOLE };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		found(&w, PERF_UNUSABLE, "is not a file");
		return 0;
	}
	w.size = st.st_size;
	if (!check_header(&w))
		return w.error;
	/* The features are there before the header says so, even while the file is being written. */
	if (fstat(fd, &st) < 0)
		return -errno;
	c->file_size = w.size = st.st_size;
	c->cut = perf_was_cut(&w.header);
	if (check_attrs(&w)) {
		if (walk_records(&w))
			check_features(&w);
		check_room_for_note(&w);
		check_trace(&w);
	}
	return w.error;
}

static int put(int fd, const void *from, size_t size, uint64_t at)
{
	ssize_t n = pwrite(fd, from, size, at);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -ENOSPC;
}

/* The note alone, or nothing. perf wants a section for each bit. */
static int put_features(const struct perfcheck *c, int fd)
{
	const struct perf_section empty = { .offset = c->end };
	struct perf_header h = { 0 };
	int err = c->cut ? put(fd, &empty, sizeof(empty), c->end) : 0;

	h.features[PERF_FEAT_CUT / 64] = (uint64_t)c->cut << PERF_FEAT_CUT % 64;
	return err ? err : put(fd, h.features, sizeof(h.features), offsetof(struct perf_header, features));
}

int perfcheck_repair(const struct perfcheck *c, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size != c->file_size)
		return -EBUSY;

	/* Features first: in between, the file is no worse than before. */
	err = c->drop_features ? put_features(c, fd) : 0;
	return err ? err : put(fd, &c->data_size, sizeof(c->data_size), offsetof(struct perf_header, data.size));
}
