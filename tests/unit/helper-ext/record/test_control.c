/* SPDX-License-Identifier: MIT */
/* test_control.c - orders as lines, complete and in pieces. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/control.h"

struct fixture {
	char dir[32];
	int dirfd, writer;
	struct control control;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/test_control.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(control_open(&f->control, f->dirfd), 0);
	f->writer = openat(f->dirfd, CONTROL_FIFO, O_WRONLY);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	control_close(&f->control, f->dirfd);
	assert_int_equal(faccessat(f->dirfd, CONTROL_FIFO, F_OK, 0), -1);
	close(f->writer);
	close(f->dirfd);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(write(f->writer, text, strlen(text)), strlen(text));
}

static void expect(struct fixture *f, enum order order, const char *wanted)
{
	char label[CONTROL_LABEL + 1];

	assert_int_equal(control_next(&f->control, label), order);
	if (wanted)
		assert_string_equal(label, wanted);
}

static void test_orders(void **state)
{
	struct fixture *f = *state;

	expect(f, ORDER_NONE, NULL);
	say(f, "snapshot\nsnapshot a label \"q\\\" \t\x80\nstop\nsnapshots x\n\n sto");
	expect(f, ORDER_SNAPSHOT, "");
	expect(f, ORDER_SNAPSHOT, "a label ?q?? ??");
	expect(f, ORDER_STOP, "");
	expect(f, ORDER_UNKNOWN, NULL);
	expect(f, ORDER_UNKNOWN, NULL);
	expect(f, ORDER_NONE, NULL);
	say(f, "p\nsnap");
	expect(f, ORDER_UNKNOWN, NULL); /* " stop" */
	expect(f, ORDER_NONE, NULL);
	say(f, "shot x\n");
	expect(f, ORDER_SNAPSHOT, "x");
	expect(f, ORDER_NONE, NULL);
}

static void test_long_lines(void **state)
{
	struct fixture *f = *state;
	char text[2001], label[CONTROL_LABEL + 1];
	int n = 0;

	memset(text, 'x', 2000);
	memcpy(text, "snapshot ", 9);
	text[400] = '\n';
	text[2000] = '\0';
	say(f, text);
	memset(label, 'x', CONTROL_LABEL);
	label[CONTROL_LABEL] = '\0';
	expect(f, ORDER_SNAPSHOT, label);
	while (control_next(&f->control, label) == ORDER_UNKNOWN)
		n++;
	assert_true(n >= 3); /* pieces of one, but no endless line */
	say(f, "\nsnapshot y\n");
	expect(f, ORDER_UNKNOWN, NULL);
	expect(f, ORDER_SNAPSHOT, "y");
}

/* The end of a label is an order to nobody, wherever the line is cut. */
static void test_a_long_label_that_ends_like_an_order(void **state)
{
	struct fixture *f = *state;
	char text[sizeof(f->control.text) + 1], label[CONTROL_LABEL + 1];
	enum order order;

	memset(text, 'x', sizeof(text));
	memcpy(text, "snapshot ", 9);
	text[sizeof(text) - 1] = '\0';
	say(f, text);
	say(f, "stop\nstop\n");
	memset(label, 'x', CONTROL_LABEL);
	label[CONTROL_LABEL] = '\0';
	expect(f, ORDER_SNAPSHOT, label);
	while ((order = control_next(&f->control, label)) == ORDER_UNKNOWN)
		;
	assert_int_equal(order, ORDER_STOP); /* the second */
	expect(f, ORDER_NONE, NULL);
}

static void test_private_and_new(void **state)
{
	struct fixture *f = *state;
	struct control second;
	struct stat st;

	assert_int_equal(fstatat(f->dirfd, CONTROL_FIFO, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFIFO | 0600);
	assert_int_equal(control_open(&second, f->dirfd), -EEXIST);
	control_close(&second, f->dirfd);
	assert_int_equal(faccessat(f->dirfd, CONTROL_FIFO, F_OK, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_orders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_long_label_that_ends_like_an_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_private_and_new, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
