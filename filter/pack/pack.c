// SPDX-License-Identifier: MIT
/* Files with traces come last: of a packed file that is cut off later, what explains them is still there. */
#include "pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "about.h"
#include "base/source.h"
#include "pieces.h"
#include "frames.h"
#include "named.h"
#include "tar.h"

struct packing {
	int folder;
	struct about about;
	FILE *sources; /* SOURCE_FILE, which is not in the folder; NULL: none */
	struct out out;
	struct frames_out frames;
	struct pieces pieces;
	uint8_t *piece, *frame;
	struct advance *advance;
	char *error;
};

static int fail(char *error, int err, const char *what, const char *name)
{
	snprintf(error, PACK_ERROR, "%s '%.4000s': %s", what, name, strerror(-err));
	return err;
}

/* --- the folder -------------------------------------------------------------------------------------------- */

static bool has_data(const struct about *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (about_is_data(a->files[i].name))
			return true;
	return false;
}

/* A recorder locks its folder (record/folder.c); while we have the lock, none begins there. */
static int open_folder(int *folder, struct about *a, const char *dir, char *error)
{
	int err;

	*a = (struct about){ 0 };
	*folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		return fail(error, -errno, "cannot read the recording", dir);
	if (flock(*folder, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		snprintf(error, PACK_ERROR, "'%s' is being recorded into: pack it when the recorder has ended", dir);
		return -EBUSY;
	}
	err = about_list(a, *folder);
	if (err)
		return fail(error, err, "cannot read the recording", dir);
	if (has_data(a))
		return 0;
	snprintf(error, PACK_ERROR, "'%s' is not a recording: it has no " ABOUT_DATA, dir);
	return -ENOENT;
}

/* Adds what the recording of another machine would lack, unless it came with it already. */
static int add_sources(struct packing *p, const char *dir, struct packed *packed)
{
	int n, err = 0;

	if (!packed->sources || about_find(&p->about, SOURCE_FILE))
		return 0;
	p->sources = tmpfile();
	n = p->sources ? named_sources(p->sources, p->folder, &p->about) : -errno;
	if (n > 0 && (fflush(p->sources) || ferror(p->sources)))
		n = -EIO;
	if (n > 0)
		err = about_add(&p->about, SOURCE_FILE, ftell(p->sources), time(NULL));
	if (n < 0 || err)
		return fail(p->error, n < 0 ? n : err, "cannot keep the sources of", dir);
	packed->nsources = n;
	return 0;
}

/* --- writing ----------------------------------------------------------------------------------------------- */

/* n bytes are in p->frame. */
static int put_frame(struct packing *p, size_t n)
{
	int err = frames_put(&p->frames, p->frame, n);

	if (err)
		snprintf(p->error, PACK_ERROR, "no memory");
	return err ? err : out_position(&p->out, p->error, PACK_ERROR);
}

/* Zeros up to a whole block behind n bytes. Returns how many bytes there are now. */
static size_t pad(uint8_t *frame, size_t n)
{
	size_t more = tar_padding(n);

	memset(frame + n, 0, more);
	return n + more;
}

static int put_text(struct packing *p, const char *name, const char *text)
{
	size_t n = strlen(text);

	if (n > TRANSPOSE_MOST) {
		snprintf(p->error, PACK_ERROR, "too many files");
		return -EFBIG;
	}
	tar_put(p->frame, name, n, time(NULL));
	memcpy(p->frame + TAR_BLOCK, text, n);
	return put_frame(p, pad(p->frame, TAR_BLOCK + n));
}

/* A file of its own, of the n bytes in p->piece. */
static int put_columns(struct packing *p, const struct about_file *f, uint64_t at, size_t n)
{
	enum piece_kind kind = piece_kind_of(f->name);
	size_t size = pieces_put(&p->pieces, kind, p->piece, n, p->frame + TAR_BLOCK);
	char name[TAR_NAME_MOST + 1];

	snprintf(name, sizeof(name), "%.80s%s%06u", f->name, piece_suffix(kind), (unsigned)(at / TRANSPOSE_MOST));
	tar_put(p->frame, name, size, f->changed);
	return put_frame(p, pad(p->frame, TAR_BLOCK + size));
}

/* As it is: the first piece comes with the file's head, the last one with its padding. */
static int put_plain(struct packing *p, const struct about_file *f, uint64_t at, size_t n)
{
	size_t head = at ? 0 : TAR_BLOCK;

	if (head)
		tar_put(p->frame, f->name, f->size, f->changed);
	memcpy(p->frame + head, p->piece, n);
	return put_frame(p, at + n == f->size ? pad(p->frame, head + n) : head + n);
}

/* It must still have the size that about.json says. */
static int read_piece(struct packing *p, int fd, const struct about_file *f, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t more = read(fd, p->piece + got, n - got);

		if (more < 0)
			return fail(p->error, -errno, "cannot read", f->name);
		if (!more)
			return fail(p->error, -EBUSY, "changed while it was packed:", f->name);
		got += more;
	}
	return 0;
}

static int put_pieces(struct packing *p, int fd, const struct about_file *f)
{
	uint64_t at = 0;
	int err;

	do {
		size_t n = f->size - at < TRANSPOSE_MOST ? f->size - at : TRANSPOSE_MOST;

		err = read_piece(p, fd, f, n);
		err = err ?: piece_kind_of(f->name) ? put_columns(p, f, at, n) : put_plain(p, f, at, n);
		err = err ?: advance_by(p->advance, n);
		at += n;
	} while (!err && at < f->size);
	return err;
}

static int put_file(struct packing *p, const struct about_file *f)
{
	bool made = p->sources && !strcmp(f->name, SOURCE_FILE);
	int fd = made ? dup(fileno(p->sources))
		      : openat(p->folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int err;

	if (fd < 0)
		return fail(p->error, -errno, "cannot read", f->name);
	if (made)
		lseek(fd, 0, SEEK_SET);
	err = fstat(fd, &st) ? -errno : (uint64_t)st.st_size == f->size ? 0 : -EBUSY;
	err = err ? fail(p->error, err, "changed while it was packed:", f->name) : put_pieces(p, fd, f);
	close(fd);
	return err;
}

static int put_all(struct packing *p, const char *version)
{
	char *text = about_text(&p->about, p->folder, version);
	int err = -ENOMEM;

	snprintf(p->error, PACK_ERROR, "no memory");
	if (text)
		err = put_text(p, ABOUT_NAME, text);
	free(text);
	for (size_t i = 0; i < p->about.n && !err; i++)
		err = put_file(p, &p->about.files[i]);
	memset(p->frame, 0, 2 * TAR_BLOCK); /* the end of a tar */
	err = err ?: put_frame(p, 2 * TAR_BLOCK);
	if (!err)
		frames_end(&p->frames);
	return err;
}

/* On the disk before it has its name, because the folder may be removed then. */
static int close_out(struct packing *p, struct packed *packed)
{
	int err;

	out_flush(&p->out);
	packed->packed = p->out.written;
	err = out_position(&p->out, p->error, PACK_ERROR);
	if (!err && p->out.target && fsync(p->out.fd))
		err = fail(p->error, -errno, "cannot write", p->out.path);
	if (!err)
		return out_close(&p->out, p->error, PACK_ERROR);
	out_discard(&p->out);
	return err;
}

static int pack_folder(struct packing *p, const char *path, const char *version, struct packed *packed)
{
	int err = out_open(&p->out, path, p->error, PACK_ERROR);

	if (err)
		return err;
	err = frames_out_init(&p->frames, &p->out);
	err = pieces_init(&p->pieces) ?: err;
	p->piece = malloc(TRANSPOSE_MOST);
	p->frame = malloc(FRAMES_SIZE_MOST);
	if (err || !p->piece || !p->frame) {
		err = -ENOMEM;
		snprintf(p->error, PACK_ERROR, "no memory");
	}
	err = err ?: put_all(p, version);
	if (err)
		out_discard(&p->out);
	else
		err = close_out(p, packed);
	frames_out_free(&p->frames);
	pieces_free(&p->pieces);
	free(p->piece);
	free(p->frame);
	return err;
}

int pack(const char *dir, const char *path, const char *version, struct packed *packed, struct advance *a, char *error)
{
	struct packing p = { .advance = a, .error = error };
	int err = open_folder(&p.folder, &p.about, dir, error);

	snprintf(packed->left, sizeof(packed->left), "%s", p.about.left);
	err = err ?: add_sources(&p, dir, packed);
	packed->size = a->all = about_size(&p.about);
	err = err ?: pack_folder(&p, path, version, packed);
	if (err == -EINTR)
		snprintf(error, PACK_ERROR, "interrupted: '%s' was not written", path);
	about_free(&p.about);
	if (p.sources)
		fclose(p.sources);
	if (p.folder >= 0)
		close(p.folder);
	return err;
}

/* --- removing ---------------------------------------------------------------------------------------------- */

/* What is not packed because it is no part of the recording. */
static int remove_others(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return -errno;
	for (struct dirent *e; !err && (e = readdir(d));)
		if (about_is_other(e->d_name) && unlinkat(folder, e->d_name, 0))
			err = -errno;
	closedir(d);
	return err;
}

int pack_remove(const char *dir, char *error)
{
	struct about about;
	int folder, err = open_folder(&folder, &about, dir, error);

	for (size_t i = 0; i < about.n && !err; i++)
		err = unlinkat(folder, about.files[i].name, 0)
			      ? fail(error, -errno, "cannot remove", about.files[i].name)
			      : 0;
	if (!err && ((err = remove_others(folder)) || (err = rmdir(dir) ? -errno : 0)))
		fail(error, err, "cannot remove all of", dir);
	about_free(&about);
	if (folder >= 0)
		close(folder);
	return err;
}
