/* SPDX-License-Identifier: MIT */
/* test_got.c - calls of this program itself are seen, as long as that is asked for, and of no other object. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "ext/arch/arch.h"
#include "ext/got.h"

static atomic_int seen;

static int seen_nice(int by)
{
	seen++;
	return by + 1000;
}

static const struct got_call calls[] = { { "nice", (void *)seen_nice }, { "no_such_function", (void *)seen_nice } };

static bool is_program(const struct dl_phdr_info *object)
{
	return !*object->dlpi_name;
}

static bool is_library(const struct dl_phdr_info *object)
{
	return *object->dlpi_name;
}

/* Does nothing where the types of relocations are not known. */
static bool is_known(void)
{
	return arch_calls_by(7) || arch_calls_by(1026);
}

static void test_a_thousand_times(void **state)
{
	struct got got = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		seen = 0;
		assert_int_equal(nice(0) >= 1000, false);
		if (!is_known()) {
			assert_int_equal(got_take(&got, calls, 2, is_program, 0), 0);
			skip();
		}
		assert_in_range(got_take(&got, calls, 2, is_program, 0), 1, 2);
		assert_in_range(got_take(&got, calls, 2, is_program, 0), 1, 2); /* there is nothing new */
		assert_int_equal(nice(i), 1000 + i);
		assert_int_equal(seen, 1);
		got_give_back(&got);
		assert_int_equal(got.n, 0);
		assert_int_equal(nice(0) >= 1000, false);
		assert_int_equal(seen, 1);
	}
}

static void test_other_objects(void **state)
{
	struct got got = { 0 };

	(void)state;
	seen = 0;
	got_take(&got, calls, 2, is_library, 0);
	assert_int_equal(nice(0) >= 1000, false);
	assert_int_equal(seen, 0);
	got_give_back(&got);
}

/* What somebody else put there since is not ours to take away. */
static void test_not_ours_any_more(void **state)
{
	struct got got = { 0 };
	void **word;

	(void)state;
	if (!is_known())
		skip();
	assert_in_range(got_take(&got, calls, 2, is_program, 0), 1, 2);
	for (size_t i = 0; i < got.n; i++) {
		word = got.slots[i].at;
		got.slots[i].is = NULL; /* as if it were another's */
		got_give_back(&got);
		assert_ptr_equal(*word, seen_nice);
		break;
	}
	got = (struct got){ 0 };
}

static void *call_all_the_time(void *over)
{
	while (!atomic_load((atomic_bool *)over))
		if (nice(0) > 1001)
			abort();
	return NULL;
}

static void test_while_others_call(void **state)
{
	struct got got = { 0 };
	atomic_bool over = false;
	pthread_t thread;

	(void)state;
	if (!is_known())
		skip();
	pthread_create(&thread, NULL, call_all_the_time, &over);
	for (int i = 0; i < 1000; i++) {
		got_take(&got, calls, 1, is_program, 0);
		got_give_back(&got);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static int check_object(struct dl_phdr_info *object, size_t size, void *address)
{
	(void)size;
	assert_int_equal(got_has(object, (uintptr_t)address), is_program(object));
	assert_false(got_has(object, 0));
	return 0;
}

static void test_addresses(void **state)
{
	(void)state;
	dl_iterate_phdr(check_object, (void *)test_addresses);
}

/* Objects as they are linked elsewhere; the program loads them while it runs. */
static char folder[] = "/tmp/ocular-got-XXXXXX", path[64];

static const char *const links[] = {
	"-Wl,-z,norelro",
	"-Wl,-z,relro,-z,lazy",
	"-Wl,-z,relro,-z,now",
	"-fno-plt -Wl,-z,relro,-z,lazy",
	"-fno-plt -Wl,-z,relro,-z,now",
	"-O2 -flto -Wl,-z,relro,-z,now",
	"-Wl,-z,relro,-z,now,-z,max-page-size=65536",
	"-Wl,-z,relro,-z,now,-z,separate-code,--hash-style=sysv",
};

static void link_object(const char *how)
{
	char command[512];

	snprintf(path, sizeof(path), "%s/object.so", folder);
	snprintf(command, sizeof(command),
		 "echo 'int nice(int); int other = 1; int call(int by) { return nice(by) + other; }' | "
		 "${CC:-cc} -x c -shared -fPIC %s -o %s -",
		 how, path);
	assert_int_equal(system(command), 0);
}

static bool is_object(const struct dl_phdr_info *object)
{
	return !strcmp(object->dlpi_name, path);
}

/* All of the object that may be written, or could once. */
struct written {
	const void *at;
	size_t size;
	char bytes[1 << 16];
	char maps[4096]; /* its lines in /proc/self/maps: what may be written now */
};

static int read_written(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct written *w = arg;

	(void)size;
	for (int i = 0; is_object(object) && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		w->at = (const void *)(object->dlpi_addr + p->p_vaddr);
		w->size = p->p_memsz;
		assert_in_range(w->size, 1, sizeof(w->bytes));
		memcpy(w->bytes, w->at, w->size);
	}
	return 0;
}

static void look(struct written *w)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	*w = (struct written){ 0 };
	dl_iterate_phdr(read_written, w);
	assert_non_null(w->at);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, path))
			strncat(w->maps, line, sizeof(w->maps) - strlen(w->maps) - 1);
	fclose(f);
}

static void look_same(const struct written *before)
{
	static struct written now;

	look(&now);
	assert_int_equal(now.size, before->size);
	assert_memory_equal(now.bytes, before->bytes, now.size);
	assert_string_equal(now.maps, before->maps);
}

typedef int (*call_fn)(int);

static void take_a_thousand_times(call_fn call)
{
	static struct written before;
	struct got got = { 0 };

	look(&before);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(got_take(&got, calls, 2, is_object, 0), 1);
		assert_int_equal(call(7), 1008);
		got_give_back(&got);
	}
	look_same(&before);
}

/* However it was linked: seen from when it is loaded, bit for bit as before when it is given back. */
static void test_links(void **state)
{
	(void)state;
	if (!is_known())
		skip();
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		struct got got = { 0 };
		void *object;
		call_fn call;

		link_object(links[i]);
		assert_int_equal(got_take(&got, calls, 2, is_object, 0), 0); /* not yet */
		object = dlopen(path, RTLD_LAZY);
		call = (call_fn)dlsym(object, "call");
		take_a_thousand_times(call); /* not resolved yet, where that is lazy */
		assert_true(call(0) < 1000);
		take_a_thousand_times(call);
		dlclose(object);
	}
}

static int count_one(struct dl_phdr_info *object, size_t size, void *n)
{
	(void)object, (void)size;
	++*(size_t *)n;
	return 0;
}

/* What is loaded comes after all that was there before. */
static void test_skipped(void **state)
{
	struct got got = { 0 };
	size_t before = 0;
	void *object;

	(void)state;
	if (!is_known())
		skip();
	link_object("-Wl,-z,relro,-z,now");
	dl_iterate_phdr(count_one, &before);
	object = dlopen(path, RTLD_NOW);
	assert_int_equal(got_take(&got, calls, 2, is_object, before + 1), 0);
	assert_int_equal(got_take(&got, calls, 2, is_object, before), 1);
	assert_int_equal(((call_fn)dlsym(object, "call"))(7), 1008);
	got_give_back(&got);
	dlclose(object);
}

/* One that is loaded where another was, whose words were never given back. */
static void test_loaded_again(void **state)
{
	static struct written before;
	struct got got = { 0 };
	void *object;

	(void)state;
	if (!is_known())
		skip();
	link_object("-Wl,-z,relro,-z,lazy");
	object = dlopen(path, RTLD_LAZY);
	assert_int_equal(got_take(&got, calls, 2, is_object, 0), 1);
	dlclose(object);
	object = dlopen(path, RTLD_NOW); /* the word has another value than before */
	look(&before);
	assert_int_equal(got_take(&got, calls, 2, is_object, 0), 2);
	got_give_back(&got);
	look_same(&before);
	dlclose(object);
}

static bool forbidden;

/* That of the C library, for got.c. */
int mprotect(void *at, size_t size, int prot)
{
	if (!forbidden)
		return (int)syscall(SYS_mprotect, at, size, prot);
	errno = EACCES;
	return -1;
}

/* What may not be written is left as it is, and that is said. */
static void test_forbidden(void **state)
{
	static struct written before;
	struct got got = { 0 };
	void *object;

	(void)state;
	if (!is_known())
		skip();
	link_object("-Wl,-z,relro,-z,now");
	object = dlopen(path, RTLD_NOW);
	look(&before);
	forbidden = true;
	assert_int_equal(got_take(&got, calls, 2, is_object, 0), -EACCES);
	forbidden = false;
	assert_int_equal(got.n, 0);
	look_same(&before);
	got_give_back(&got);
	dlclose(object);
}

static int (*word)(int) = nice;
static int (*const sealed)(int) = nice; /* read-only from when the program is linked on */

/* Any word of an object's data, and no other. */
static void test_one_word(void **state)
{
	struct got got = { 0 };
	void *was = (void *)word, *heap = NULL;

	(void)state;
	assert_int_equal(got_take_at(&got, (void **)&word, (void *)seen_nice), 0);
	assert_int_equal(got_take_at(&got, (void **)&word, (void *)seen_nice), 0); /* it is already */
	assert_int_equal(got_take_at(&got, (void **)&sealed, (void *)seen_nice), 0);
	assert_int_equal(got.n, 2);
	assert_int_equal(word(1), 1001);
	assert_int_equal((*(int (*const volatile *)(int)) & sealed)(2), 1002);
	got_give_back(&got);
	assert_ptr_equal(word, was);
	assert_ptr_equal(*(int (*const volatile *)(int)) & sealed, was);
	assert_int_equal(got_take_at(&got, &heap, (void *)seen_nice), -ENOENT);
	assert_int_equal(got_take_at(&got, (void **)(uintptr_t)test_one_word, (void *)seen_nice), -ENOENT);
	assert_null(heap);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thousand_times),  cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_while_others_call), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_not_ours_any_more), cmocka_unit_test(test_links),
		cmocka_unit_test(test_skipped),		  cmocka_unit_test(test_loaded_again),
		cmocka_unit_test(test_forbidden),	  cmocka_unit_test(test_one_word),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
