/* SPDX-License-Identifier: MIT */
/* test_pack.c - the same bytes come back; of a damaged file only what is right; nothing lands outside of the folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "any.h"
#include "pack/about.h"
#include "pack/frames.h"
#include "pack/pack.h"
#include "pack/tar.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define BIG	 (2 * TRANSPOSE_MOST + 12345)

static char top[] = "/tmp/ocular-test-pack-XXXXXX", error[PACK_ERROR];
static volatile sig_atomic_t stop;
static struct advance advance = { .what = "", .stop = &stop };
static const char *path(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *p = paths[next++ % COUNT(paths)];

	snprintf(p, sizeof(paths[0]), "%s/%s", top, name);
	return p;
}

static int make_top(void **unused)
{
	(void)unused;
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **unused)
{
	char command[64];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static uint8_t *contents(const char *name, size_t *n)
{
	FILE *f = fopen(path(name), "r");
	uint8_t *bytes;

	*n = 0;
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*n = ftell(f);
	rewind(f);
	bytes = malloc(*n + 1);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

static void put(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(path(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void remove_folder(const char *name)
{
	DIR *d = opendir(path(name));

	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path(name));
}

/* --- a recording -------------------------------------------------------------------------------------------- */

static const char *const names[] = { "codes-1.jsonl", "codes-22.jsonl", "notes.txt", "perf.data",
				     "perf.data.20260101" };

/* Packets, and what is none; a text larger than a piece; an empty file. */
static void make_recording(size_t data, size_t text)
{
	uint8_t *bytes = malloc(data > text ? data : text);
	const char *header = "{\"kind\":\"header\",\"argv\":[\"python\",\"app.py\"],\"python\":\"3.12\"}\n";

	remove_folder("r");
	assert_int_equal(mkdir(path("r"), 0700), 0);
	put("r/codes-1.jsonl", header, strlen(header));
	for (size_t i = 0; i < text; i++)
		bytes[i] = "any text, \n"[i % 11] + (any(500) == 0);
	put("r/codes-22.jsonl", bytes, text);
	put("r/notes.txt", "", 0);
	for (size_t i = 0; i < data; i++)
		bytes[i] = "\003\002\x32\1\2\3\4\5\6\7\010"[i % 11] ^ (any(50) ? 0 : any(256));
	put("r/perf.data", bytes, data);
	put("r/perf.data.20260101", bytes, data / 3);
	put("r/report.html", "made again", 10);
	put("r/.ocular.sock", "", 0);
	free(bytes);
}

static void pack_recording(struct packed *p)
{
	if (pack(path("r"), path("r.ocular"), "1", p, &advance, error))
		fail_msg("%s", error);
}

/* Is what was unpacked the beginning of what was packed? Returns its bytes. */
static uint64_t assert_beginnings(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(names); i++) {
		char was[64], is[64];
		size_t n, m;
		uint8_t *a, *b;

		snprintf(was, sizeof(was), "r/%s", names[i]);
		snprintf(is, sizeof(is), "u/%s", names[i]);
		a = contents(was, &n);
		b = contents(is, &m);
		assert_true(m <= n);
		if (b)
			assert_memory_equal(a, b, m);
		sum += m;
		free(a);
		free(b);
	}
	return sum;
}

static void test_same_bytes(void **unused)
{
	const size_t sizes[][2] = { { 0, 0 },
				    { 1, 1 },
				    { 511, 512 },
				    { TRANSPOSE_MOST, TRANSPOSE_MOST },
				    { TRANSPOSE_MOST + 1, TRANSPOSE_MOST - 1 },
				    { BIG, BIG } };
	struct packed p = { 0 };
	struct unpacked u;

	(void)unused;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		make_recording(sizes[i][0], sizes[i][1]);
		pack_recording(&p);
		remove_folder("u");
		if (unpack(path("r.ocular"), path("u"), &u, &advance, error))
			fail_msg("%s", error);
		assert_null(u.why);
		assert_int_equal(u.files, COUNT(names));
		assert_int_equal(assert_beginnings(), p.size);
		assert_int_equal(u.had, p.size);
		assert_true(access(path("u/report.html"), F_OK) && access(path("u/.ocular.sock"), F_OK));
	}
}

/* At every length, and with any bit turned: an error or a loss that is told, and nothing that was not packed. */
static void test_damage(void **unused)
{
	struct packed p = { 0 };
	struct unpacked u;
	uint8_t *bytes;
	size_t n;

	(void)unused;
	make_recording(20000, 5000);
	pack_recording(&p);
	bytes = contents("r.ocular", &n);
	for (int i = 0; i < 1500; i++) {
		size_t cut = any(2) ? any(n) : n, at = any(n);
		uint8_t bit = cut == n ? 1 << any(8) : 0;
		int err;

		bytes[at] ^= bit;
		put("d.ocular", bytes, cut);
		bytes[at] ^= bit;
		remove_folder("u");
		err = unpack(path("d.ocular"), path("u"), &u, &advance, error);
		if (err) {
			assert_int_equal(access(path("u"), F_OK), -1);
			assert_true(strlen(error) > 10);
			continue;
		}
		assert_int_equal(assert_beginnings(), u.had);
		assert_true(u.why || u.had == p.size);
		assert_true(!u.why || u.missing || *u.cut);
	}
	free(bytes);
}

static void test_cut_is_told(void **unused)
{
	struct packed p = { 0 };
	struct unpacked u;
	uint8_t *bytes;
	size_t n;

	(void)unused;
	make_recording(BIG, 5000);
	pack_recording(&p);
	bytes = contents("r.ocular", &n);
	put("d.ocular", bytes, n / 2);
	free(bytes);
	remove_folder("u");
	assert_int_equal(unpack(path("d.ocular"), path("u"), &u, &advance, error), 0);
	assert_string_equal(u.why, "cut off");
	assert_string_equal(u.cut, "perf.data");
	assert_int_equal(u.missing, 1);
	assert_int_equal(u.size, p.size);
	assert_true(u.had > 5000 && u.had < p.size);
	assert_int_equal((u.had - 5000) / TRANSPOSE_MOST, 1);
}

/* --- files that pack() did not make --------------------------------------------------------------------------- */

#define ABOUT(files) "{\"packed\":1,\"files\":[" files "]}"
#define MEMBER(n, b) \
	{ \
		.name = n, .bytes = b \
	}
#define FILE_(name, size) "{\"name\":\"" name "\",\"size\":" #size "}"

struct member {
	const char *name, *bytes;
	char type;  /* 0: a file */
	bool piece; /* of a perf.data */
};

static void put_piece(struct frames_out *frames, const struct member *m)
{
	uint8_t block[2 * TAR_BLOCK] = { 0 };
	struct transpose *t = transpose_new();
	size_t n = transpose_put(t, (const uint8_t *)m->bytes, strlen(m->bytes), block + TAR_BLOCK);

	tar_put(block, m->name, n, 0);
	assert_int_equal(frames_put(frames, block, sizeof(block)), 0);
	transpose_free(t);
}

static void put_member(struct frames_out *frames, const struct member *m)
{
	uint8_t block[4 * TAR_BLOCK] = { 0 };
	unsigned sum = 0;

	tar_put(block, m->name, strlen(m->bytes), 0);
	if (m->type) {
		block[156] = m->type;
		memset(block + 148, ' ', 8);
		for (size_t i = 0; i < TAR_BLOCK; i++)
			sum += block[i];
		snprintf((char *)block + 148, 8, "%06o", sum);
	}
	memcpy(block + TAR_BLOCK, m->bytes, strlen(m->bytes));
	assert_int_equal(frames_put(frames, block, sizeof(block)), 0);
}

static int unpack_made(const struct member *members, size_t n, struct unpacked *u)
{
	struct frames_out frames;
	struct out out;

	assert_int_equal(out_open(&out, path("m.ocular"), error, sizeof(error)), 0);
	assert_int_equal(frames_out_init(&frames, &out), 0);
	for (size_t i = 0; i < n && members[i].name; i++)
		(members[i].piece ? put_piece : put_member)(&frames, &members[i]);
	frames_end(&frames);
	frames_out_free(&frames);
	assert_int_equal(out_close(&out, error, sizeof(error)), 0);
	remove_folder("in/u");
	mkdir(path("in"), 0700);
	return unpack(path("m.ocular"), path("in/u"), u, &advance, error);
}

static void test_foreign(void **unused)
{
	/* `refused`: there is no folder; else it is said to be damaged, and there is at most what came before. */
	static const struct {
		bool refused;
		struct member members[3];
	} cases[] = {
		{ true, { MEMBER("x", "") } },
		{ true, { MEMBER(ABOUT_NAME, "") } },
		{ true, { MEMBER(ABOUT_NAME, "{}") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT("")) } },
		{ true, { MEMBER(ABOUT_NAME, "{\"packed\":2,\"files\":[" FILE_("a", 1) "]}") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("../a", 1))), MEMBER("../a", "x") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("/tmp/a", 1))), MEMBER("/tmp/a", "x") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("..", 1))), MEMBER("..", "x") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_(".bashrc", 1))), MEMBER(".bashrc", "x") } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a\\u001b", 1))) } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", 1) "," FILE_("a", 1))) } },
		{ true, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", -1))), MEMBER("a", "x") } },
		{ false, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", 1))), MEMBER("../a", "x") } },
		{ false, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", 1))), MEMBER("b", "x") } },
		{ false, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", 1))), MEMBER("a", "xy") } },
		{ false, { MEMBER(ABOUT_NAME, ABOUT(FILE_("a", 1))), { .name = "a", .bytes = "x", .type = '2' } } },
		{ false, { MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 1))), MEMBER("perf.data", "x") } },
		{ false,
		  { MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 1))), MEMBER("perf.data.columns/000001", "x") } },
		{ false,
		  { MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 1))), MEMBER("perf.data.columns/../../a", "x") } },
		{ false,
		  { MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 1))), MEMBER("perf.data.columns/000000", "x") } },
		{ false,
		  { MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 9))), MEMBER("../perf.data.columns/000000", "x") } },
	};
	struct unpacked u;

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int err = unpack_made(cases[i].members, COUNT(cases[i].members), &u);

		if (!!err != cases[i].refused)
			fail_msg("case %zu: %d %s", i, err, error);
		if (!err)
			assert_non_null(u.why);
		assert_int_equal(access(path("in/a"), F_OK), -1);
		assert_int_equal(access(path("a"), F_OK), -1);
	}
	/* And nothing but the folder is there. */
	remove_folder("in/u");
	assert_int_equal(rmdir(path("in")), 0);
}

/* The pieces of one file do not go on in another that lost its end. */
static void test_pieces_of_another(void **unused)
{
	const struct member members[] = {
		MEMBER(ABOUT_NAME, ABOUT(FILE_("perf.data", 4) "," FILE_("perf.data.2", 2))),
		{ .name = "perf.data.columns/000000", .bytes = "ab", .piece = true },
		{ .name = "perf.data.2.columns/000000", .bytes = "cd", .piece = true },
	};
	struct unpacked u;

	(void)unused;
	assert_int_equal(unpack_made(members, COUNT(members), &u), 0);
	assert_string_equal(u.why, "damaged");
	assert_string_equal(u.cut, "perf.data");
	assert_int_equal(u.had, 2);
	assert_int_equal(u.missing, 1);
	remove_folder("in/u");
	assert_int_equal(rmdir(path("in")), 0);
}

/* What is no zstd at all. */
static void test_no_packed_file(void **unused)
{
	struct unpacked u;

	(void)unused;
	put("n.ocular", "PERFILE2 and so on", 18);
	assert_int_equal(unpack(path("n.ocular"), path("u2"), &u, &advance, error), -EBADMSG);
	assert_non_null(strstr(error, "is not a packed recording"));
	assert_int_equal(unpack(path("nothing"), path("u2"), &u, &advance, error), -ENOENT);
	assert_int_equal(mkfifo(path("fifo"), 0600), 0);
	assert_int_equal(unpack(path("fifo"), path("u2"), &u, &advance, error), -EINVAL);
}

/* --- what is not packed ------------------------------------------------------------------------------------- */

static void test_refused_folders(void **unused)
{
	struct packed p = { 0 };
	int fd;

	(void)unused;
	make_recording(1000, 10);
	fd = open(path("r"), O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0); /* as a recorder */
	assert_int_equal(pack(path("r"), path("x.ocular"), "1", &p, &advance, error), -EBUSY);
	assert_non_null(strstr(error, "is being recorded into"));
	close(fd);
	unlink(path("r/perf.data"));
	unlink(path("r/perf.data.20260101"));
	assert_int_equal(pack(path("r"), path("x.ocular"), "1", &p, &advance, error), -ENOENT);
	assert_non_null(strstr(error, "it has no perf.data"));
	assert_int_equal(pack(path("none"), path("x.ocular"), "1", &p, &advance, error), -ENOENT);
	assert_int_equal(access(path("x.ocular"), F_OK), -1);
}

static void test_left_out_and_removed(void **unused)
{
	struct packed p = { 0 };

	(void)unused;
	make_recording(1000, 10);
	assert_int_equal(symlink("/etc/passwd", path("r/link")), 0);
	pack_recording(&p);
	assert_string_equal(p.left, "link");
	unlink(path("r/link"));
	pack_recording(&p);
	assert_string_equal(p.left, "");
	assert_int_equal(pack_remove(path("r"), error), 0);
	assert_int_equal(access(path("r"), F_OK), -1);
}

/* A signal: neither a file nor a folder, nor a part of one. */
static void test_stopped(void **unused)
{
	struct packed p = { 0 };
	struct unpacked u;

	(void)unused;
	make_recording(BIG, 10);
	pack_recording(&p);
	remove_folder("u");
	stop = 1;
	assert_int_equal(pack(path("r"), path("s.ocular"), "1", &p, &advance, error), -EINTR);
	assert_int_equal(unpack(path("r.ocular"), path("u"), &u, &advance, error), -EINTR);
	stop = 0;
	assert_int_equal(access(path("s.ocular"), F_OK), -1);
	assert_int_equal(access(path("u"), F_OK), -1);
}

static void test_nothing_is_left_behind(void **unused)
{
	DIR *d = opendir(top);

	(void)unused;
	for (struct dirent *e; (e = readdir(d));)
		assert_null(strstr(e->d_name, ".tmp"));
	closedir(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),	  cmocka_unit_test(test_damage),
		cmocka_unit_test(test_cut_is_told),	  cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_pieces_of_another), cmocka_unit_test(test_no_packed_file),
		cmocka_unit_test(test_refused_folders),	  cmocka_unit_test(test_left_out_and_removed),
		cmocka_unit_test(test_stopped),		  cmocka_unit_test(test_nothing_is_left_behind),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
