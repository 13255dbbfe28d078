/* SPDX-License-Identifier: MIT */
/* test_compiled.c - where a thread goes, and how long it was in compiled code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "qemu/compiled.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { LOOP = 0x1000, OTHER = 0x2000, SIZE = 0x1000, F = 7, G = 8 };

/*
 * What happens, each 10 ns later. A block is where it is, and how the one before it ended: in the interpreter (i) or
 * compiled code (l: LOOP, o: OTHER); by a call (c), a return (r), a jump (j), or behind a system call (s).
 */
static const struct {
	const char *name, *way;
	struct compiled_sum sums[3];
	size_t n;
} rows[] = {
	{ "nothing", "f ic ir", { { 0 } }, 0 },
	{ "in and out", "f lc lj ir", { { LOOP, 1, 20, F } }, 1 },
	{ "twice", "f lc ir lc ir", { { LOOP, 2, 20, F } }, 1 },
	{ "in a function with a number", "n lc ir x s lc ir", { { LOOP, 2, 20, F } }, 1 },
	{ "entered by a jump", "f lj ir", { { LOOP, 1, 10, F } }, 1 },
	{ "through another executor", "f lc oj ir", { { LOOP, 1, 20, F } }, 1 },
	{ "a C function", "f lc ic ir lr ir", { { LOOP, 1, 40, F } }, 1 },
	{ "a C function, by a jump", "f lc ij lr ir", { { LOOP, 1, 30, F } }, 1 },
	{ "with a system call", "f lc ic is lr ir", { { LOOP, 1, 40, F } }, 1 },
	{ "a Python function", "f lc ic g - ic x lr ir", { { LOOP, 1, 40, F } }, 1 },
	{ "that raises through C", "f lc ic g ic lr ir", { { LOOP, 1, 30, F } }, 1 },
	{ "with compiled code", "f lc ic g oc ir x lr ir", { { OTHER, 1, 10, G }, { LOOP, 1, 40, F } }, 2 },
	{ "no traced function", "lc ir", { { 0 } }, 0 },
	{ "not left", "f lc", { { 0 } }, 0 },
	{ "thrown away, and the memory used again", "f lc ir M lc ir", { { 0, 1, 10, F }, { LOOP, 1, 10, F } }, 2 },
	{ "thrown away", "f lc ir U", { { LOOP, 1, 10, F } }, 1 },
};

static enum insn_kind kind_of(char how)
{
	return how == 'c' ? INSN_CALL_IND : how == 'r' ? INSN_RET : INSN_JUMP_IND;
}

static void go(struct compiled *c, struct compiled_thread *t, const char *step, uint64_t tsc)
{
	struct block last = { .kind = kind_of(step[1]) };
	uint64_t at = *step == 'l' ? LOOP : *step == 'o' ? OTHER : 0x9000;
	struct block b = { .start = at, .compiled = compiled_holds(c, at) };

	switch (*step) {
	case 'f':
	case 'g':
		compiled_word(t, marker_head(OP_PY_START, 0) | (uint64_t)(*step == 'f' ? F : G) << MARKER_CODE_SHIFT,
			      tsc);
		return;
	case 'n': /* as f, which gets a number there, and then by the number */
		compiled_word(t, marker_number_of(7, 0), tsc);
		compiled_word(t, marker_head(OP_PY_START, 3) | (uint64_t)F << MARKER_CODE_SHIFT, tsc);
		return;
	case 's':
		compiled_word(t, marker_short_of(9, 7), tsc);
		return;
	case 'x':
		compiled_word(t, marker_head(OP_PY_RETURN, 0) | (uint64_t)G << MARKER_CODE_SHIFT, tsc);
		return;
	case 'M':
	case 'U':
		compiled_protect(c, LOOP, SIZE, false);
		if (*step == 'M')
			compiled_protect(c, LOOP, SIZE, true);
		return;
	case '-':
		return;
	}
	compiled_block(c, t, step[1] == 's' ? NULL : &last, &b, tsc);
}

static void test_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct compiled c = { .lock = PTHREAD_MUTEX_INITIALIZER };
		struct compiled_thread t = { 0 };
		uint64_t tsc = 1000;

		compiled_protect(&c, LOOP, SIZE, true);
		compiled_protect(&c, OTHER, SIZE, true);
		for (const char *step = rows[i].way; *step; step += *step != ' ' && step[1] && step[1] != ' ' ? 2 : 1) {
			if (*step == ' ')
				continue;
			go(&c, &t, step, tsc);
			tsc += 10;
		}
		if (c.nsums != rows[i].n)
			fail_msg("%s: %zu executors", rows[i].name, c.nsums);
		for (size_t k = 0; k < c.nsums; k++)
			if (c.sums[k].entry != rows[i].sums[k].entry || c.sums[k].n != rows[i].sums[k].n ||
			    c.sums[k].ns != rows[i].sums[k].ns || c.sums[k].id != rows[i].sums[k].id)
				fail_msg("%s: %#lx %lu %lu %u", rows[i].name, c.sums[k].entry, c.sums[k].n,
					 c.sums[k].ns, c.sums[k].id);
		compiled_forget(&c);
		compiled_thread_free(&t);
		free(c.ranges);
	}
}

/* What is deeper than we count is not mistaken for what is above it. */
static void test_deep(void **state)
{
	struct compiled c = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct compiled_thread t = { 0 };
	uint64_t tsc = 0;

	(void)state;
	compiled_protect(&c, LOOP, SIZE, true);
	go(&c, &t, "f ", tsc);
	for (unsigned i = 0; i < COMPILED_DEEPEST + 10; i++) {
		go(&c, &t, "lc", tsc += 10);
		go(&c, &t, "ic", tsc);
	}
	for (unsigned i = 0; i < COMPILED_DEEPEST + 10; i++) {
		go(&c, &t, "lr", tsc);
		go(&c, &t, "ir", tsc);
	}
	assert_int_equal(t.n, 0);
	assert_int_equal(c.nsums, 1);
	assert_int_equal(c.sums[0].n, COMPILED_DEEPEST);
	compiled_forget(&c);
	compiled_thread_free(&t);
	free(c.ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
