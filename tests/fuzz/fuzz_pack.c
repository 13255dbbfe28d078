// SPDX-License-Identifier: MIT
/*
 * fuzz_pack.c - any bytes as a piece of a perf.data, or of a code table: packed, they come back. Any frames as a packed
 * recording: what is unpacked is one folder with the files that it names.
 *
 * Input: frames, each behind its length in two bytes. The heads of their files have the right sum, and each frame its
 * own checksum: changed bytes would go no further.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "mutator.h"
#include "pack/about.h"
#include "pack/pack.h"
#include "pack/pieces.h"

#define FRAMES_MOST 64

static char top[] = "/dev/shm/ocular-fuzz-XXXXXX";
static char packed[sizeof(top) + 16], folder[sizeof(top) + 16];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool held)
{
	if (!held)
		abort();
}

static void forget(void)
{
	unlink(packed);
	rmdir(top);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	check(mkdtemp(top));
	snprintf(packed, sizeof(packed), "%s/packed", top);
	snprintf(folder, sizeof(folder), "%s/folder", top);
	atexit(forget);
	return 0;
}

/* --- pieces ------------------------------------------------------------------------------------------- */

static void come_back(enum piece_kind kind, const uint8_t *data, size_t size)
{
	static struct pieces pieces;
	uint8_t *columns = malloc(transpose_bound(size)), *back = malloc(size + 1);
	size_t n;

	check(pieces.transpose || !pieces_init(&pieces));
	n = pieces_put(&pieces, kind, data, size, columns);
	check(n <= transpose_bound(size) && pieces_size(kind, columns, n) == (int64_t)size);
	check(!pieces_get(&pieces, kind, columns, n, back) && !memcmp(data, back, size));
	free(columns);
	free(back);
}

/* --- frames ------------------------------------------------------------------------------------------- */

/* Puts the sum right: of a head of tar (POSIX, pax: ustar interchange format), bytes 148 to 155 count as blanks. */
static void sum_up(uint8_t *block)
{
	unsigned sum = 0;
	char octal[8];

	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf(octal, sizeof(octal), "%06o", sum & 0777777);
	memcpy(block + 148, octal, 7);
}

static void put_frame(FILE *f, const uint8_t *data, size_t n)
{
	static uint8_t copy[UINT16_MAX], frame[ZSTD_COMPRESSBOUND(UINT16_MAX)];
	static ZSTD_CCtx *zstd;

	memcpy(copy, data, n);
	if (n >= TAR_BLOCK && !memcmp(copy + 257, "ustar", 5))
		sum_up(copy);
	zstd = zstd ? zstd : ZSTD_createCCtx();
	n = ZSTD_compressCCtx(zstd, frame, sizeof(frame), copy, n, -1);
	check(!ZSTD_isError(n) && fwrite(frame, 1, n, f) == n);
}

static void write_packed(const uint8_t *data, size_t size)
{
	FILE *f = fopen(packed, "w");
	size_t n;

	check(f);
	for (; size > 2; data += 2 + n, size -= 2 + n) {
		n = data[0] | data[1] << 8;
		n = n < size - 2 ? n : size - 2;
		put_frame(f, data + 2, n);
	}
	check(!fclose(f));
}

/* What is in the folder is removed. Returns the bytes it had. */
static uint64_t empty_folder(void)
{
	DIR *d = opendir(folder);
	uint64_t sum = 0;

	check(d);
	for (struct dirent *e; (e = readdir(d));) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		check(!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode));
		check(!unlinkat(dirfd(d), e->d_name, 0));
		sum += st.st_size;
	}
	closedir(d);
	check(!rmdir(folder));
	return sum;
}

static void unpack_it(void)
{
	volatile sig_atomic_t stop = 0;
	struct advance advance = { .what = "", .stop = &stop };
	struct unpacked u;
	char error[PACK_ERROR] = "";

	if (unpack(packed, folder, &u, &advance, error)) {
		check(*error && access(folder, F_OK));
		return;
	}
	check(empty_folder() == u.had && u.missing <= u.files);
	check(u.why ? u.had <= u.size : u.had == u.size && !u.missing && !*u.cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	come_back(PIECE_DATA, data, size);
	come_back(PIECE_TABLE, data, size);
	/* Much memory for each: only what may be one. */
	if (size > 2 + TAR_BLOCK && !memcmp(data + 2, ABOUT_NAME, sizeof(ABOUT_NAME))) {
		write_packed(data, size);
		unpack_it();
	}
	return 0;
}

/* --- changes ------------------------------------------------------------------------------------------ */

static void find_frames(struct mutated *m)
{
	size_t at = 0;

	m->nrecords = 0;
	while (m->nrecords < FRAMES_MOST && m->size - at > 2) {
		size_t n = 2 + (m->bytes[at] | m->bytes[at + 1] << 8);

		m->records[m->nrecords++] = at;
		at = n < m->size - at ? at + n : m->size;
	}
	m->records[m->nrecords] = at;
}

/* Anything inside it; its length follows. */
static void change_frame(struct mutated *m, unsigned i)
{
	size_t at = m->records[i] + 2, n = m->records[i + 1] - at, most = n + (m->max - m->size), now;
	uint8_t *copy = malloc(m->max + 1);

	most = most < UINT16_MAX ? most : UINT16_MAX;
	memcpy(copy, m->bytes + at, n);
	now = most ? LLVMFuzzerMutate(copy, n < most ? n : most, most) : 0;
	memmove(m->bytes + at + now, m->bytes + at + n, m->size - at - n);
	memcpy(m->bytes + at, copy, now);
	m->size += now - n;
	m->bytes[at - 2] = now;
	m->bytes[at - 1] = now >> 8;
	free(copy);
}

static void change_word(struct mutated *m, unsigned i)
{
	mutator_change_field(m, m->records[i] + 2, m->records[i + 1]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static void (*const ways[])(struct mutated * m, unsigned i) = { change_frame, change_frame, change_word,
									mutator_drop, mutator_repeat };
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };

	if (size < 3 || !mutator_draw(&m, 8))
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned n = 1 + mutator_draw(&m, 3); n && m.size > 2; n--) {
		find_frames(&m);
		ways[mutator_draw(&m, sizeof(ways) / sizeof(ways[0]))](&m, mutator_draw(&m, m.nrecords));
	}
	return m.size;
}
