/* SPDX-License-Identifier: MIT */
/* test_folder.c - what is in the way of a new recording is kept as DIR.old, or not touched. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/folder.h"
#include "record/socket.h"

/* Names that end in '/' are folders; each case starts in an empty folder and makes "rec". */
static const struct {
	const char *name;
	const char *before[4];
	int err;
	const char *after[5];
} cases[] = {
	{ "nothing there", { 0 }, 0, { "rec/" } },
	{ "empty", { "rec/" }, 0, { "rec/" } },
	{ "recording", { "rec/", "rec/perf.data" }, 0, { "rec/", "rec.old/perf.data" } },
	{ "codes only", { "rec/", "rec/codes-1.jsonl" }, 0, { "rec.old/codes-1.jsonl" } },
	{ "left-over socket", { "rec/", "rec/.ocular.sock" }, 0, { "rec.old/.ocular.sock" } },
	{ "two recordings",
	  { "rec/", "rec/codes-2.jsonl", "rec.old/", "rec.old/codes-1.jsonl" },
	  0,
	  { "rec/", "rec.old/codes-2.jsonl", "!rec.old/codes-1.jsonl" } },
	{ "something else", { "rec/", "rec/thesis.tex" }, -EEXIST, { "rec/thesis.tex" } },
	{ "something else beside it",
	  { "rec/", "rec/perf.data", "rec/.git/" },
	  -EEXIST,
	  { "rec/perf.data", "rec/.git/" } },
	{ "something else in old",
	  { "rec/", "rec/perf.data", "rec.old/", "rec.old/thesis.tex" },
	  -ENOTEMPTY,
	  { "rec/perf.data", "rec.old/thesis.tex" } },
	{ "only perf's file in old",
	  { "rec/", "rec/perf.data", "rec.old/", "rec.old/perf.data=perf" },
	  -ENOTEMPTY,
	  { "rec/perf.data", "rec.old/perf.data" } },
	{ "perf's file and our tables in old",
	  { "rec/perf.data", "rec.old/", "rec.old/perf.data=perf", "rec.old/codes-1.jsonl" },
	  0,
	  { "rec/", "rec.old/perf.data", "!rec.old/codes-1.jsonl" } },
	{ "a link to perf's file in old",
	  { "rec/", "rec/perf.data", "rec.old/", "rec.old/perf.data>" },
	  -ENOTEMPTY,
	  { "rec/perf.data", "rec.old/" } },
	{ "a file", { "rec" }, -ENOTDIR, { "rec" } },
	{ "an old file", { "rec/", "rec/perf.data", "rec.old" }, -ENOTEMPTY, { "rec/perf.data" } },
};

/* The header of a file by perf record 6.1: magic, size, attr_size; offset and size of attrs, data; features. */
static const uint64_t perfs[13] = { 0x32454c4946524550, 104, 144, 136, 144, 280, 1072, 0, 0, 0x8671ff7c };

/* "NAME=" is a file of perf's, "NAME>" a link. */
static void make(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s", name);
	path[strcspn(path, "=>")] = '\0';
	if (path[strlen(path) - 1] == '/') {
		assert_int_equal(mkdir(path, 0755), 0);
		return;
	}
	if (name[strlen(name) - 1] == '>') {
		assert_int_equal(symlink("/dev/null", path), 0);
		return;
	}
	if (!strncmp(path, "rec/", 4) && access("rec", F_OK))
		mkdir("rec", 0755);
	file = fopen(path, "w");
	assert_non_null(file);
	if (strchr(name, '='))
		fwrite(perfs, sizeof(perfs), 1, file);
	fclose(file);
}

static void check(const char *name, const char *expected)
{
	bool wanted = expected[0] != '!';

	if ((access(expected + !wanted, F_OK) == 0) != wanted)
		fail_msg("%s: %s", name, expected);
}

static void test_every_case(void **state)
{
	char top[] = "/tmp/test_folder.XXXXXX", command[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct folder f;
		int err;

		strcpy(top, "/tmp/test_folder.XXXXXX");
		assert_non_null(mkdtemp(top));
		assert_int_equal(chdir(top), 0);
		for (int j = 0; j < 4 && cases[i].before[j]; j++)
			make(cases[i].before[j]);
		err = folder_create(&f, "rec/");
		if (err != cases[i].err)
			fail_msg("%s: %d", cases[i].name, err);
		for (int j = 0; j < 5 && cases[i].after[j]; j++)
			check(cases[i].name, cases[i].after[j]);
		if (!err)
			close(f.fd);
		snprintf(command, sizeof(command), "rm -r %s", top);
		assert_int_equal(system(command), 0);
	}
}

/* A recorder that listens in `dir`; or one that died and left its socket. */
static int listen_in(const char *dir)
{
	int dirfd = open(dir, O_PATH | O_DIRECTORY), fd = socket_listen(dirfd);

	assert_true(fd >= 0);
	close(dirfd);
	return fd;
}

static void check_under_way(const char *dir, int err)
{
	struct folder f;
	int listener = listen_in(dir);

	assert_int_equal(folder_create(&f, "rec"), err);
	assert_non_null(folder_refusal(err));
	check("under way", "rec/perf.data");
	check("under way", "rec.old/perf.data");
	close(listener);
}

static void test_a_recording_under_way_stays(void **state)
{
	static const char *const before[] = { "rec/", "rec/perf.data", "rec.old/", "rec.old/perf.data" };
	char top[] = "/tmp/test_folder.XXXXXX", command[64];
	struct folder f;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	for (int i = 0; i < 4; i++)
		make(before[i]);
	check_under_way("rec.old", -ETXTBSY);
	check_under_way("rec", -EBUSY);
	assert_int_equal(folder_create(&f, "rec"), 0);
	check("its socket was left over", "rec.old/.ocular.sock");
	close(f.fd);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

/* It has the folder before it listens there: whoever begins at the same time neither shares nor moves it. */
static void test_a_recording_that_begins(void **state)
{
	char top[] = "/tmp/test_folder.XXXXXX", command[64];
	struct folder first, second;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(folder_create(&first, "rec"), 0);
	assert_int_equal(folder_create(&second, "rec"), -EBUSY);
	make("rec/perf.data");
	assert_int_equal(folder_create(&second, "rec"), -EBUSY);
	assert_int_equal(rename("rec", "rec.old"), 0);
	make("rec/perf.data");
	assert_int_equal(folder_create(&second, "rec"), -ETXTBSY);
	close(first.fd);
	assert_int_equal(folder_create(&second, "rec"), 0);
	check("both have ended", "rec.old/perf.data");
	close(second.fd);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

/* What moves is the folder; the link leads to the new one. */
static void test_a_link_to_a_folder(void **state)
{
	char top[] = "/tmp/test_folder.XXXXXX", command[64];
	struct folder f;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	make("real/");
	assert_int_equal(symlink("real", "rec"), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(folder_create(&f, "rec"), 0);
		assert_string_equal(strrchr(f.path, '/'), "/real");
		close(f.fd);
		assert_int_equal(lstat("rec", &st), 0);
		assert_true(S_ISLNK(st.st_mode));
		check("link", "!rec/perf.data");
		if (i)
			check("link", "real.old/perf.data");
		make("rec/perf.data");
	}
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

static void test_folder_is_private_and_absolute(void **state)
{
	char top[] = "/tmp/test_folder.XXXXXX";
	struct folder f;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	umask(0);
	assert_int_equal(folder_create(&f, "./rec"), 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(f.path[0], '/');
	assert_string_equal(strrchr(f.path, '/'), "/rec");
	close(f.fd);
	assert_int_equal(folder_create(&f, "not/there"), -ENOENT);
	assert_int_equal(folder_create(&f, ""), -ENOENT);
	rmdir("rec");
	rmdir(top);
}

static void test_a_folder_that_is_there_keeps_its_mode(void **state)
{
	char top[] = "/tmp/test_folder.XXXXXX";
	struct folder f;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir("rec", 0755), 0);
	assert_int_equal(chmod("rec", 0751), 0);
	assert_int_equal(folder_create(&f, "rec"), 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0751);
	folder_cancel(&f);
	close(f.fd);
	assert_int_equal(rmdir("rec"), 0); /* it was not ours to take back */
	assert_int_equal(folder_create(&f, "rec"), 0);
	folder_cancel(&f);
	close(f.fd);
	assert_int_equal(access("rec", F_OK), -1);
	rmdir(top);
}

/* Root could write there; its owner could have put a link in its way. */
static void test_anothers_folder(void **state)
{
	static const char *const before[] = { "rec/", "rec.old/", "rec.old/perf.data" };
	char top[] = "/tmp/test_folder.XXXXXX", command[64];
	struct folder f;

	(void)state;
	if (geteuid())
		skip();
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	for (int i = 0; i < 3; i++)
		make(before[i]);
	assert_int_equal(chown("rec", 65534, 65534), 0);
	assert_int_equal(folder_create(&f, "rec"), -EPERM);
	assert_non_null(folder_refusal(-EPERM));
	make("rec/perf.data");
	assert_int_equal(folder_create(&f, "rec"), -EPERM);
	assert_int_equal(chown("rec", 0, 65534), 0);
	assert_int_equal(chmod("rec", 0770), 0);
	assert_int_equal(folder_create(&f, "rec"), -EPERM);
	assert_int_equal(chown("rec", 0, 0), 0);
	assert_int_equal(chmod("rec", 0777), 0);
	assert_int_equal(folder_create(&f, "rec"), -EPERM);
	assert_int_equal(chmod("rec", 0770), 0);
	assert_int_equal(chown("rec.old", 65534, 65534), 0);
	assert_int_equal(folder_create(&f, "rec"), -ENOTEMPTY);
	check("another's", "rec/perf.data");
	check("another's", "rec.old/perf.data");
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_case),
		cmocka_unit_test(test_a_recording_under_way_stays),
		cmocka_unit_test(test_a_recording_that_begins),
		cmocka_unit_test(test_a_link_to_a_folder),
		cmocka_unit_test(test_folder_is_private_and_absolute),
		cmocka_unit_test(test_a_folder_that_is_there_keeps_its_mode),
		cmocka_unit_test(test_anothers_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
