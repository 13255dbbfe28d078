// SPDX-License-Identifier: MIT
/*
 * Hundreds of bytes go through here for every marker, so the caller renders into the buffer itself, and each write(2)
 * takes a quarter of a megabyte, which is in the core's cache until it is compressed. stdio would lock, copy and
 * parse a format each time.
 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (1u << 18)
#define NAMES_TRIED 1000
#define HANDLE	    32 /* "/proc/self/fd/" and a number */

static int open_directly(struct out *o, int flags)
{
	if (!strcmp(o->path, "-"))
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		o->fd = open(o->path, O_WRONLY | O_CLOEXEC | flags, 0666);
	return o->fd < 0 ? -errno : 0;
}

static int create(struct out *o)
{
	o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return o->fd < 0 ? -errno : 0;
}

/* By which a file without a name is known to linkat(2). */
static const char *handle_of(const struct out *o, char text[static HANDLE])
{
	snprintf(text, HANDLE, "/proc/self/fd/%d", o->fd);
	return text;
}

static int name(struct out *o)
{
	char from[HANDLE];

	return linkat(AT_FDCWD, handle_of(o, from), AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Under a name that no other report writing the same file has. */
static int make_temporary(struct out *o, int (*make)(struct out *o))
{
	int err = -EEXIST;

	for (unsigned n = 0; n < NAMES_TRIED && err == -EEXIST; n++) {
		if (asprintf(&o->temporary, "%s.%d-%u.tmp", o->target, (int)getpid(), n) < 0) {
			o->temporary = NULL;
			return -ENOMEM;
		}
		err = make(o);
		if (!err)
			return 0;
		free(o->temporary);
		o->temporary = NULL; /* not ours to remove */
	}
	return err;
}

/* Not all file systems have that, and it gets its name by way of /proc. */
static bool open_nameless(struct out *o)
{
	const char *slash = strrchr(o->target, '/');
	char *folder = slash ? strndup(o->target, slash + 1 - o->target) : strdup("."), handle[HANDLE];

	o->fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	free(folder);
	if (o->fd >= 0 && access(handle_of(o, handle), F_OK)) {
		close(o->fd);
		o->fd = -1;
	}
	o->nameless = o->fd >= 0;
	return o->nameless;
}

/* The kernel applies the umask. */
static int open_new(struct out *o)
{
	return open_nameless(o) ? 0 : make_temporary(o, create);
}

/*
 * A link that leads nowhere, or to a file without a name (/dev/stdout, if that is a deleted file), is written through:
 * it may be the system's.
 */
static int open_temporary(struct out *o)
{
	struct stat st;

	o->target = realpath(o->path, NULL);
	if (!o->target && !lstat(o->path, &st))
		return open_directly(o, O_CREAT | O_TRUNC);
	if (!o->target)
		o->target = strdup(o->path);
	return o->target ? open_new(o) : -ENOMEM;
}

static bool is_zipped(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && !strcmp(path + length - 3, ".gz");
}

static bool is_direct(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

static bool look(const char *path, struct stat *st)
{
	return !(strcmp(path, "-") ? stat(path, st) : fstat(STDOUT_FILENO, st));
}

/* The folder that holds it, or would, and its name there. NULL: there is no such folder. */
static char *full_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash + 1 - path) : strdup(".");
	char *full = folder ? realpath(folder, NULL) : NULL, *name;

	if (!full || asprintf(&name, "%s/%s", full, slash ? slash + 1 : path) < 0)
		name = NULL;
	free(folder);
	free(full);
	return name;
}

bool out_same(const char *a, const char *b)
{
	struct stat at_a, at_b;
	bool is_a = look(a, &at_a), is_b = look(b, &at_b), same;
	char *name_a, *name_b;

	if (!strcmp(a, "-") && !strcmp(b, "-"))
		return true;
	if (is_a || is_b)
		return is_a && is_b && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino &&
		       !S_ISCHR(at_a.st_mode);
	name_a = full_name(a);
	name_b = full_name(b);
	same = name_a && name_b && !strcmp(name_a, name_b);
	free(name_a);
	free(name_b);
	return same;
}

int out_position(const struct out *o, char *error, size_t size)
{
	if (o->err)
		snprintf(error, size, "cannot write %s: %s",
			 !o->path || !strcmp(o->path, "-") ? "to standard output" : o->path, strerror(-o->err));
	return o->err;
}

int out_open(struct out *o, const char *path, char *error, size_t size)
{
	int err;

	*o = (struct out){ .fd = -1, .size = BUFFER_SIZE };
	o->path = strdup(path);
	o->buffer = malloc(o->size);
	o->zip = is_zipped(path) ? gzip_open(NULL) : NULL;
	if (!o->path || !o->buffer || (is_zipped(path) && !o->zip))
		o->err = -ENOMEM;
	else
		o->err = is_direct(path) ? open_directly(o, 0) : open_temporary(o);
	err = out_position(o, error, size);
	if (err)
		out_discard(o);
	return err;
}

int out_frames(struct out *o, gzip_frame frame)
{
	if (!o->zip)
		o->zip = gzip_open(frame);
	if (!o->zip)
		o->err = -ENOMEM;
	return o->err;
}

static void compress(struct out *o, enum gzip_how how)
{
	struct gzip_bytes plain = { o->buffer, o->used, o->size };

	o->err = gzip_write(o->zip, o->fd, &plain, how);
	o->buffer = plain.at;
	o->size = plain.room;
	o->used = 0;
}

static void flush(struct out *o, enum gzip_how how)
{
	size_t done = 0;

	o->written += o->used;
	if (o->zip && !o->err)
		compress(o, how);
	while (!o->zip && !o->err && done < o->used) {
		ssize_t n = write(o->fd, o->buffer + done, o->used - done);

		if (n > 0)
			done += n;
		else if (n < 0 && errno != EINTR)
			o->err = -errno;
	}
	o->used = 0;
}

static int grow(struct out *o, size_t size)
{
	char *bigger = realloc(o->buffer, size);

	if (!bigger) {
		o->err = o->err ? o->err : -ENOMEM;
		return -ENOMEM;
	}
	o->buffer = bigger;
	o->size = size;
	return 0;
}

char *out_make_room(struct out *o, size_t size)
{
	flush(o, GZIP_MORE);
	return o->size < size && grow(o, size) ? NULL : o->buffer + o->used;
}

void out_put(struct out *o, const char *bytes, size_t size)
{
	char *to = out_reserve(o, size);

	if (to)
		out_commit(o, mempcpy(to, bytes, size));
}

void out_number(struct out *o, uint64_t n, size_t size)
{
	char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = n >> 8 * i;
	out_put(o, bytes, size);
}

/* What is still being compressed is known when that is done. */
static bool fits_as_it_is(struct out *o, uint64_t more, uint64_t most)
{
	if (gzip_at_most(o->zip, o->used + more) <= most)
		return true;
	if (!o->err)
		o->err = gzip_settle(o->zip, o->fd);
	return gzip_at_most(o->zip, o->used + more) <= most;
}

/* What is not compressed yet may come to any amount: if that might not fit, it is. */
bool out_fits(struct out *o, uint64_t more, uint64_t most)
{
	if (!o->zip)
		return o->written + o->used + more <= most;
	if (fits_as_it_is(o, more, most))
		return true;
	flush(o, GZIP_SYNC);
	return gzip_at_most(o->zip, more) <= most;
}

void out_flush(struct out *o)
{
	flush(o, GZIP_SYNC);
}

static void release(struct out *o)
{
	gzip_free(o->zip);
	free(o->path);
	free(o->temporary);
	free(o->target);
	free(o->buffer);
	*o = (struct out){ .fd = -1 };
}

int out_close(struct out *o, char *error, size_t size)
{
	int err;

	flush(o, GZIP_END);
	if (!o->err && o->nameless)
		o->err = make_temporary(o, name);
	if (close(o->fd) && !o->err)
		o->err = -errno;
	o->fd = -1;
	if (!o->err && o->temporary && rename(o->temporary, o->target))
		o->err = -errno;
	err = out_position(o, error, size);
	if (err)
		out_discard(o);
	else
		release(o);
	return err;
}

void out_discard(struct out *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary)
		unlink(o->temporary);
	release(o);
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
			    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

/* 1233 / 4096 is nearly log10(2), so the table settles it. */
static unsigned count_digits(uint64_t n)
{
	static const uint64_t tens[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	unsigned near = (64 - __builtin_clzll(n | 1)) * 1233 >> 12;

	return near + (n >= tens[near]);
}

/* Two digits a division. */
char *out_dec(char *to, uint64_t n)
{
	char *end = to + count_digits(n), *at = end;

	for (; n >= 10; n /= 100)
		memcpy(at -= 2, pairs + 2 * (n % 100), 2);
	if (at > to)
		*to = '0' + n;
	return end;
}

char *out_int(char *to, int64_t n)
{
	if (n < 0)
		*to++ = '-';
	return out_dec(to, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

char *out_hex(char *to, uint64_t n)
{
	unsigned digits = n ? (67 - __builtin_clzll(n)) / 4 : 1;

	for (unsigned i = digits; i--; n >>= 4)
		to[i] = "0123456789abcdef"[n & 15];
	return to + digits;
}

/* '.' and n / 1000 */
static char *put_decimals(char *to, unsigned n)
{
	to[0] = '.';
	to[1] = '0' + n / 100;
	memcpy(to + 2, pairs + 2 * (n % 100), 2);
	return to + 4;
}

char *out_us(char *to, uint64_t ns)
{
	return put_decimals(out_dec(to, ns / 1000), ns % 1000);
}

char *out_six(char *to, unsigned ns)
{
	unsigned us = ns / 1000;

	to[0] = '0' + us / 100;
	memcpy(to + 1, pairs + 2 * (us % 100), 2);
	return put_decimals(to + 3, ns % 1000);
}
