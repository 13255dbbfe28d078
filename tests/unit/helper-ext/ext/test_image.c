// SPDX-License-Identifier: MIT
/*
 * test_image.c - tables of handlers that are functions, as in a build with tail calls, and what belongs to them. Where
 * the thread-local storage is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ext/dispatch.h"

/* Numbers that are opcodes; the rest share one handler. */
#define FUNCTIONS 240
#define INSIDE	  230

/*
 * What handlers jump to is in no table. One leaves for `error` with its last bytes, and that for `unwind`; nobody
 * jumps to `stranger`. `entry` is told by its name, and calls what dispatches `first`.
 */
__asm__(".text\n"
	".balign 4096\n"
	"shared_unwind: .cfi_startproc\n"
	"	movzbl (%r15), %eax\n"
	"	jmp *(%rdi,%rax,8)\n"
	"	.cfi_endproc\n"
	"shared_unwind_end:\n"
	".balign 1024\n"
	"stranger: .cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".balign 1024\n"
	"shared_error: .cfi_startproc\n"
	"	pop %rbp\n"
	"	jmp shared_unwind\n"
	"	.cfi_endproc\n"
	"shared_error_end:\n"
	".balign 1024\n"
	"entry: .cfi_startproc\n"
	"	call stranger\n"
	"	call first\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"entry_end:\n"
	".balign 1024\n"
	"first: .cfi_startproc\n"
	"	jle first_cold\n"
	"	movzwl (%r15), %eax\n"
	"	movzbl %al, %eax\n"
	"	jmp *(%rdi,%rax,8)\n"
	"	.cfi_endproc\n"
	"first_end:\n"
	".balign 1024\n"
	"first_cold: .cfi_startproc\n"
	"	jmp shared_unwind\n"
	"	.cfi_endproc\n"
	"first_cold_end:\n"
	".balign 4096\n");

/*
 * A function for each opcode, and one for the rest. The last but one specialises, and dispatches with its last bytes.
 */
__asm__("functions:\n"
	".set number, 0\n"
	".rept 241\n"
	"	.balign 16\n"
	"1:	.cfi_startproc\n"
	".if number == 8\n"
	"	test %eax, %eax\n"
	"	js shared_error\n"
	"	call stranger\n"
	".endif\n"
	"	movzwl (%r15), %eax\n"
	"	movzbl %ah, %esi\n"
	"	movzbl %al, %eax\n"
	".if number == 239\n"
	"	cmp $6, %eax\n"
	"	ja 2f\n"
	"	call stranger\n"
	"again:\n"
	"	movzbl (%r15), %eax\n"
	"	pop %r12\n"
	"	leave\n"
	"2:\n"
	".endif\n"
	"	jmp *(%rdi,%rax,8)\n"
	"	.cfi_endproc\n"
	".pushsection .data.rel.ro, \"aw\"\n"
	".if number == 0\n"
	"	.balign 8\n"
	"functions_table:\n"
	".endif\n"
	".if number == 240\n"
	"	.rept 16\n"
	"	.quad 1b\n"
	"	.endr\n"
	"	.quad 0\n" /* or the next one's windows would begin in here */
	".else\n"
	"	.quad 1b\n"
	".endif\n"
	".popsection\n"
	".set number, number + 1\n"
	".endr\n"
	"functions_end:\n"
	".balign 4096\n");

/* As many functions, and handlers that begin none of them. */
__asm__(".set number, 0\n"
	".rept 231\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"1:	jmp *(%rdi,%rax,8)\n"
	"	.cfi_endproc\n"
	".pushsection .data.rel.ro, \"aw\"\n"
	".if number == 230\n"
	"	.rept 26\n"
	"	.quad 1b\n"
	"	.endr\n"
	".else\n"
	"	.quad 1b\n"
	".endif\n"
	".popsection\n"
	".set number, number + 1\n"
	".endr\n");

extern const char shared_unwind[], shared_unwind_end[], shared_error[], shared_error_end[], entry[], entry_end[],
	first[], first_end[], first_cold[], first_cold_end[], functions[], functions_end[], again[];
extern const uint64_t functions_table[DISPATCH_OPCODES];

static int find(struct dispatch *d, int opcodes, char why[DISPATCH_ERROR])
{
	bool used[DISPATCH_OPCODES] = { false };
	struct image image;

	memset(used, true, opcodes);
	assert_true(image_of(&image, (const void *)find));
	image.entry = (uintptr_t)entry;
	return dispatch_find(d, &image, used, why);
}

static void assert_range(const struct range *r, const char *start, const char *end)
{
	assert_int_equal(r->start, (uintptr_t)start);
	assert_int_equal(r->end, (uintptr_t)end);
}

static void test_functions_are_handlers(void **state)
{
	static struct dispatch d;
	char why[DISPATCH_ERROR];

	(void)state;
	assert_int_equal(find(&d, FUNCTIONS, why), 0);
	assert_memory_equal(d.targets, functions_table, sizeof(d.targets));
	assert_int_equal(d.unused, functions_table[255]);
}

/* Neighbours are one range; what they jump to is a part, though no table has it. */
static void test_all_that_dispatches_is_found(void **state)
{
	static struct dispatch d;
	char why[DISPATCH_ERROR];

	(void)state;
	assert_int_equal(find(&d, FUNCTIONS, why), 0);
	assert_int_equal(d.ncode, 6);
	assert_range(&d.code[0], shared_unwind, shared_unwind_end);
	assert_range(&d.code[1], shared_error, shared_error_end);
	assert_range(&d.code[2], entry, entry_end);
	assert_range(&d.code[3], first, first_end);
	assert_range(&d.code[4], first_cold, first_cold_end);
	assert_range(&d.code[5], functions, functions_end);
}

static void test_second_dispatch_ends_a_function(void **state)
{
	static struct dispatch d;
	char why[DISPATCH_ERROR];

	(void)state;
	assert_int_equal(find(&d, FUNCTIONS, why), 0);
	assert_int_equal(d.nagain, 1);
	assert_int_equal(d.again[0], (uintptr_t)again);
}

static void test_what_was_never_seen_is_refused(void **state)
{
	static struct dispatch d;
	char why[DISPATCH_ERROR];

	(void)state;
	assert_int_equal(find(&d, INSIDE, why), -ENOTSUP);
	assert_non_null(strstr(why, "many functions and do not begin them"));
}

/* One that does not fit these numbers is none. */
static void test_other_numbers(void **state)
{
	static struct dispatch d;
	char why[DISPATCH_ERROR];

	(void)state;
	assert_int_equal(find(&d, FUNCTIONS - 1, why), -ENOENT);
}

static _Thread_local int storage = 1;

/* Bytes of dl_phdr_info that the C library says it has, if not 0: as one without the last members. */
static size_t known;

struct asked {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
};

static int ask(struct dl_phdr_info *info, size_t size, void *asked)
{
	const struct asked *a = asked;

	return a->callback(info, known ? known : size, a->data);
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	struct asked a = { callback, data };

	*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return real(ask, &a);
}

static void *is_in_storage(void *image)
{
	struct image *i = image;
	uint64_t address = (uintptr_t)&storage;

	assert_true(image_of(i, (const void *)find));
	assert_in_range(address, i->tls.start, i->tls.end - sizeof(storage));
	assert_int_equal(i->tls_module, 1); /* the program's own */
	return NULL;
}

/* Each thread has its own. */
static void test_thread_local_storage(void **state)
{
	struct image here, there;
	pthread_t thread;

	(void)state;
	is_in_storage(&here);
	assert_int_equal(pthread_create(&thread, NULL, is_in_storage, &there), 0);
	pthread_join(thread, NULL);
	assert_int_not_equal(here.tls.start, there.tls.start);
	assert_int_equal(here.tls.end - here.tls.start, there.tls.end - there.tls.start);
}

static void test_c_library_without_thread_local_storage(void **state)
{
	struct image image;

	(void)state;
	known = offsetof(struct dl_phdr_info, dlpi_tls_data);
	assert_true(image_of(&image, (const void *)find));
	known = 0;
	assert_int_equal(image.tls.start, image.tls.end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_handlers),
		cmocka_unit_test(test_all_that_dispatches_is_found),
		cmocka_unit_test(test_second_dispatch_ends_a_function),
		cmocka_unit_test(test_what_was_never_seen_is_refused),
		cmocka_unit_test(test_other_numbers),
		cmocka_unit_test(test_thread_local_storage),
		cmocka_unit_test(test_c_library_without_thread_local_storage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
