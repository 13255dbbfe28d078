// SPDX-License-Identifier: MIT
/* perfcheck has checked the whole file before: sizes and offsets are valid here. */
#include "perf_file.h"
#include "base/regular.h"
#include "shared/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n = pread(fd, to, size, at);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -ENODATA;
}

static int read_ids(struct perf_file *f, const struct perf_section *s, struct perf_attr *attr)
{
	uint64_t id;
	int err = 0;

	for (uint64_t at = 0; !err && at + sizeof(id) <= s->size; at += sizeof(id)) {
		err = read_at(f->fd, &id, sizeof(id), s->offset + at);
		err = err ?: map_put(&f->ids, id, attr);
	}
	return err;
}

/* An entry is an attr in the size of its perf version, then the section of its ids. */
static int read_attrs(struct perf_file *f, const struct perf_header *h)
{
	uint64_t size = h->attr_size - sizeof(struct perf_section);
	struct perf_section ids;
	int err = 0;

	f->nattrs = h->attrs.size / h->attr_size;
	f->attrs = calloc(f->nattrs + 1, sizeof(*f->attrs));
	if (!f->attrs)
		return -ENOMEM;
	if (size > sizeof(*f->attrs))
		size = sizeof(*f->attrs);
	for (uint32_t i = 0; i < f->nattrs && !err; i++) {
		uint64_t at = h->attrs.offset + i * h->attr_size;

		err = read_at(f->fd, &f->attrs[i], size, at);
		err = err ?: read_at(f->fd, &ids, sizeof(ids), at + h->attr_size - sizeof(ids));
		err = err ?: read_ids(f, &ids, &f->attrs[i]);
	}
	return err;
}

static int read_header(struct perf_file *f)
{
	struct perf_header h;
	int err = read_at(f->fd, &h, sizeof(h), 0);

	if (err)
		return err;
	f->data = h.data.offset;
	return read_attrs(f, &h);
}

static int open_checked(struct perf_file *f, const char *path, char *error)
{
	int err = perfcheck_file(&f->check, f->fd);

	if (!err && f->check.verdict == PERF_UNUSABLE) {
		snprintf(error, PERF_FILE_ERROR, "%s %s", path, f->check.finding);
		return -EPROTO;
	}
	return err ?: read_header(f);
}

int perf_file_open(struct perf_file *f, const char *path, char *error)
{
	int err;

	*f = (struct perf_file){ .fd = regular_open(path) };
	err = f->fd < 0 ? f->fd : open_checked(f, path, error);
	if (err && err != -EPROTO)
		snprintf(error, PERF_FILE_ERROR, "%s: %s", path, strerror(-err));
	if (err)
		perf_file_close(f);
	return err;
}

int perf_file_again(struct perf_file *f, const struct perf_file *of)
{
	int err;

	*f = (struct perf_file){ .fd = fcntl(of->fd, F_DUPFD_CLOEXEC, 0), .check = of->check };
	err = f->fd < 0 ? -errno : read_header(f);
	for (uint32_t i = 0; i < of->nknown && !err; i++)
		err = perf_file_know(f, of->known[i].at, of->known[i].end);
	if (err)
		perf_file_close(f);
	return err;
}

void perf_file_close(struct perf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	map_free(&f->ids);
	free(f->attrs);
	free(f->known);
}

int perf_file_know(struct perf_file *f, uint64_t at, uint64_t end)
{
	struct perf_known *last = f->nknown ? &f->known[f->nknown - 1] : NULL;

	if (last && last->end == at) {
		last->end = end;
		return 0;
	}
	if (!ARRAY_ROOM(f->known, f->nknown, f->known_room))
		return -ENOMEM;
	f->known[f->nknown++] = (struct perf_known){ at, end };
	return 0;
}

const struct perf_attr *perf_file_attr(const struct perf_file *f, uint64_t id)
{
	const struct perf_attr *attr = map_get(&f->ids, id);

	return attr ? attr : &f->attrs[0];
}

void perf_records_init(struct perf_records *r, const struct perf_file *f, bool unpack)
{
	memset(r, 0, offsetof(struct perf_records, ahead));
	read_ahead_init(&r->ahead);
	r->file = f;
	r->unpack = unpack;
	r->at = f->data;
	r->end = f->data + f->check.data_size;
}

static const void *get(struct perf_records *r, uint64_t at, size_t size, int *err)
{
	return read_ahead_get(&r->ahead, r->file->fd, at, size, err);
}

/* The record at r->at, whole, or NULL with *err. perfcheck_file() has seen it only if it was there by then. */
static const struct perf_record *whole_record(struct perf_records *r, int *err)
{
	const struct perf_record *rec = get(r, r->at, sizeof(*rec), err);

	if (*err)
		return NULL;
	if (rec->size < (rec->type == PERF_AUXTRACE ? sizeof(struct perf_auxtrace) : sizeof(*rec)) ||
	    rec->size > r->end - r->at) {
		*err = -EBADMSG;
		return NULL;
	}
	return get(r, r->at, rec->size, err);
}

/* Goes over what is known, if that begins here. */
static void pass_known(struct perf_records *r)
{
	const struct perf_file *f = r->file;

	while (r->known < f->nknown && f->known[r->known].at < r->at)
		r->known++;
	if (r->known < f->nknown && f->known[r->known].at == r->at)
		r->at = f->known[r->known].end;
}

/* The next record of the file itself. */
static int next_in_file(struct perf_records *r, const struct perf_record **rec)
{
	uint64_t payload = 0;
	int err = 0;

	r->at += r->payload;
	r->payload = 0;
	pass_known(r);
	if (r->at >= r->end)
		return 0;
	*rec = whole_record(r, &err);
	if (err)
		return err;
	if ((*rec)->type == PERF_AUXTRACE)
		payload = ((const struct perf_auxtrace *)*rec)->size;
	if (payload > r->end - r->at - (*rec)->size)
		return -EBADMSG;
	r->at += (*rec)->size;
	r->payload = payload;
	return 1;
}

static int unzip(struct perf_records *r, const struct perf_record *rec)
{
	const struct perf_compressed2 *c2 = (const void *)rec;

	if (rec->type == PERF_COMPRESSED)
		return perf_unzip_put(&r->zip, rec + 1, rec->size - sizeof(*rec));
	if (rec->size < sizeof(*c2) || c2->size > rec->size - sizeof(*c2))
		return -EBADMSG;
	return perf_unzip_put(&r->zip, c2->data, c2->size);
}

int perf_records_next(struct perf_records *r, const struct perf_record **rec)
{
	int err;

	for (;;) {
		*rec = perf_unzip_next(&r->zip, &err);
		if (*rec || err)
			return err ? err : 1;
		err = next_in_file(r, rec);
		if (err <= 0)
			return err;
		if (!r->unpack || ((*rec)->type != PERF_COMPRESSED && (*rec)->type != PERF_COMPRESSED2))
			return 1;
		err = unzip(r, *rec);
		if (err)
			return err;
	}
}

/* --keep-last drops the beginning: what was not read of it is lost. The cache may have old bytes behind the old end. */
int perf_records_more(struct perf_records *r)
{
	struct perf_header h;
	struct stat st;
	int err = read_at(r->file->fd, &h, sizeof(h), 0);

	if (!err && fstat(r->file->fd, &st) < 0)
		err = -errno;
	if (err)
		return err;
	read_ahead_init(&r->ahead);
	r->end = h.data.offset + h.data.size;
	if (r->end > (uint64_t)st.st_size)
		r->end = st.st_size;
	if (r->at + r->payload < h.data.offset) {
		r->at = h.data.offset;
		r->payload = 0;
	}
	return 0;
}

void perf_records_free(struct perf_records *r)
{
	perf_unzip_free(&r->zip);
}
