// SPDX-License-Identifier: MIT
/* Whatever the file says, it names files of one folder, which did not exist before. */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "about.h"
#include "base/regular.h"
#include "pieces.h"
#include "frames.h"
#include "tar.h"

struct unpacking {
	struct frames_in frames;
	struct about about;
	int folder, fd;		       /* of the file being written; -1: none */
	const struct about_file *file; /* that one, or the last one */
	bool plain;		       /* it is packed as it is */
	uint64_t at;		       /* bytes of it written */
	size_t files;		       /* complete ones */
	uint8_t *piece;
	struct pieces pieces;
	struct unpacked *told;
	struct advance *advance;
	char *error;
};

static int fail(char *error, int err, const char *what, const char *name)
{
	snprintf(error, PACK_ERROR, "%s '%.4000s': %s", what, name, strerror(-err));
	return err;
}

/* --- files ------------------------------------------------------------------------------------------------- */

static void close_file(struct unpacking *u)
{
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
}

/* The files come in the order of about.json. */
static int open_file(struct unpacking *u, const char *name)
{
	if (u->files == u->about.n || strcmp(u->about.files[u->files].name, name))
		return -EBADMSG;
	u->file = &u->about.files[u->files];
	u->at = 0;
	u->fd = openat(u->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return u->fd < 0 ? fail(u->error, -errno, "cannot write", name) : 0;
}

/* n more bytes of the open file, which closes when it is complete. */
static int write_file(struct unpacking *u, const uint8_t *bytes, size_t n)
{
	if (n > u->file->size - u->at)
		return -EBADMSG;
	for (size_t done = 0; done < n;) {
		ssize_t more = write(u->fd, bytes + done, n - done);

		if (more < 0)
			return fail(u->error, -errno, "cannot write", u->file->name);
		done += more;
	}
	u->at += n;
	u->told->had += n;
	if (u->at == u->file->size) {
		close_file(u);
		u->files++;
	}
	return advance_by(u->advance, n);
}

/* --- frames ------------------------------------------------------------------------------------------------ */

/* Cuts the name of a piece, NAME.columns/NUMBER or NAME.rows/NUMBER, after NAME. PIECE_PLAIN: it is no such name. */
static enum piece_kind cut_suffix(char *name)
{
	for (enum piece_kind kind = PIECE_PLAIN + 1; kind < PIECE_KINDS; kind++) {
		char *suffix = strstr(name, piece_suffix(kind));

		if (suffix) {
			*suffix = 0;
			return kind;
		}
	}
	return PIECE_PLAIN;
}

/* Of a piece that comes next: of the file that is open, or the first of another. Its name, which has a '/', is cut. */
static enum piece_kind next_columns(const struct unpacking *u, char *name)
{
	char *end;
	uint64_t number = strtoull(strchr(name, '/') + 1, &end, 10), at = u->fd >= 0 ? u->at : 0;
	enum piece_kind kind = cut_suffix(name);
	bool right = u->fd < 0 || !strcmp(u->file->name, name);

	return right && !*end && piece_kind_of(name) == kind && at == number * TRANSPOSE_MOST ? kind : PIECE_PLAIN;
}

static int take_columns(struct unpacking *u, char *name, const uint8_t *bytes, size_t n)
{
	enum piece_kind kind = next_columns(u, name);
	int64_t size = kind ? pieces_size(kind, bytes, n) : -EBADMSG;
	int err = size < 0 ? size : pieces_get(&u->pieces, kind, bytes, n, u->piece);

	if (!err && u->fd < 0)
		err = open_file(u, name);
	u->plain = false;
	return err ? err : write_file(u, u->piece, size);
}

/* The first piece of a file, after its head; what is behind its end is padding. */
static int take_plain(struct unpacking *u, const char *name, uint64_t size, const uint8_t *bytes, size_t n)
{
	int err = u->fd >= 0 ? -EBADMSG : open_file(u, name);

	if (err)
		return err;
	u->plain = true;
	return size == u->file->size ? write_file(u, bytes, n < size ? n : size) : -EBADMSG;
}

static int take_rest(struct unpacking *u, const uint8_t *bytes, size_t n)
{
	uint64_t left = u->file->size - u->at;

	return write_file(u, bytes, n < left ? n : left);
}

/* A file that is packed as it is goes on without a head. */
static int take_frame(struct unpacking *u, const uint8_t *bytes, size_t n)
{
	char name[TAR_NAME_MOST + 1];
	uint64_t size;

	if (u->fd >= 0 && u->plain)
		return take_rest(u, bytes, n);
	if (n < TAR_BLOCK || !tar_get(bytes, name, &size))
		return -EBADMSG;
	bytes += TAR_BLOCK;
	n -= TAR_BLOCK;
	if (!strchr(name, '/'))
		return about_is_data(name) ? -EBADMSG : take_plain(u, name, size, bytes, n);
	return size <= n ? take_columns(u, name, bytes, size) : -EBADMSG;
}

/* 0, also if it is cut off or damaged: then u->told says so. */
static int take_all(struct unpacking *u)
{
	const uint8_t *bytes;
	ssize_t n = 0;
	int err = 0;

	while (!err && u->files < u->about.n) {
		n = frames_next(&u->frames, &bytes);
		err = n > 0 ? take_frame(u, bytes, n) : n ? n : -ENODATA;
	}
	if (err == -EBADMSG || err == -ENODATA) {
		u->told->why = err == -ENODATA ? "cut off" : "damaged";
		err = 0;
	} else if (err && err == n) {
		snprintf(u->error, PACK_ERROR, "cannot read it: %s", strerror(-err));
	}
	return err;
}

/* --- the folder -------------------------------------------------------------------------------------------- */

/* The first frame. */
static int read_about(struct unpacking *u, const char *path)
{
	char name[TAR_NAME_MOST + 1];
	const uint8_t *bytes;
	uint64_t size;
	ssize_t n = frames_next(&u->frames, &bytes);

	if (n < 0 && n != -EBADMSG && n != -ENODATA)
		return fail(u->error, n, "cannot read", path);
	if (n >= (ssize_t)TAR_BLOCK && tar_get(bytes, name, &size) && !strcmp(name, ABOUT_NAME) &&
	    size + TAR_BLOCK <= (size_t)n && about_read(&u->about, (const char *)bytes + TAR_BLOCK, size))
		return 0;
	snprintf(u->error, PACK_ERROR,
		 "'%s' is not a packed recording, or damaged at its beginning: ocular pack makes one", path);
	return -EBADMSG;
}

static void tell(struct unpacking *u)
{
	u->told->size = about_size(&u->about);
	u->told->files = u->about.n;
	u->told->missing = u->about.n - u->files - (u->fd >= 0);
	snprintf(u->told->cut, sizeof(u->told->cut), "%s", u->fd >= 0 ? u->file->name : "");
	close_file(u);
}

static void remove_all(struct unpacking *u, const char *dir)
{
	for (size_t i = 0; i < u->about.n; i++)
		unlinkat(u->folder, u->about.files[i].name, 0);
	rmdir(dir);
}

/* In `made`, which becomes `dir` when all is written. */
static int fill_folder(struct unpacking *u, const char *made, const char *dir)
{
	int err = mkdir(made, 0700) ? -errno : 0;

	if (!err)
		u->folder = open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (err || u->folder < 0)
		return fail(u->error, err ? err : -errno, "cannot make", made);
	err = take_all(u);
	tell(u);
	if (!err && rename(made, dir))
		err = fail(u->error, -errno, "cannot make", dir);
	if (err)
		remove_all(u, made);
	close(u->folder);
	return err;
}

static int unpack_file(struct unpacking *u, const char *path, const char *dir)
{
	char made[PATH_MAX];
	int err = frames_in_init(&u->frames, u->frames.fd);

	u->piece = malloc(TRANSPOSE_MOST);
	err = pieces_init(&u->pieces) ?: err;
	if (err || !u->piece) {
		snprintf(u->error, PACK_ERROR, "no memory");
		return -ENOMEM;
	}
	if (snprintf(made, sizeof(made), "%s.%d.tmp", dir, getpid()) >= (int)sizeof(made))
		return fail(u->error, -ENAMETOOLONG, "cannot make", dir);
	err = read_about(u, path);
	u->advance->all = about_size(&u->about);
	return err ? err : fill_folder(u, made, dir);
}

int unpack(const char *path, const char *dir, struct unpacked *told, struct advance *a, char *error)
{
	struct unpacking u = { .fd = -1, .told = told, .advance = a, .error = error };
	int fd = regular_open(path), err;

	*told = (struct unpacked){ 0 };
	if (fd < 0)
		return fail(error, fd, "cannot read", path);
	u.frames.fd = fd;
	err = unpack_file(&u, path, dir);
	if (err == -EINTR)
		snprintf(error, PACK_ERROR, "interrupted: '%s' was not made", dir);
	frames_in_free(&u.frames);
	about_free(&u.about);
	pieces_free(&u.pieces);
	free(u.piece);
	close(fd);
	return err;
}
