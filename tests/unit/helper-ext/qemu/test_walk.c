/* SPDX-License-Identifier: MIT */
/* test_qemu_walk.c - blocks that ran become the packets of the way between them, and a count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "qemu/walk.h"

struct fixture {
	struct settings set;
	struct core core;
	struct walk walk;
	struct block *blocks; /* the walk holds the last one */
	char path[64];
};

static int setup(void **state)
{
	static const struct spool_head head = { .pid = 1, .tid = 1, .cpu = UINT32_MAX, .tsc = 1000 };
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "/tmp/test_qemu_walk.%d", (int)getpid());
	settings_init(&f->set);
	assert_int_equal(settings_words(&f->set, "branch=1 cyc=0"), 0);
	unlink(f->path);
	assert_int_equal(core_open(&f->core, &f->set, f->path, &head), 0);
	f->walk.core = &f->core;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (struct block *b = f->blocks, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	spool_close(&f->core.spool);
	unlink(f->path);
	free(f);
	return 0;
}

/* Runs a block of n instructions of 4 bytes. */
static void run(struct fixture *f, uint64_t start, uint32_t n, enum insn_kind kind, uint64_t target)
{
	struct block *b = calloc(1, sizeof(*b) + n * sizeof(*b->offsets));

	*b = (struct block){ start, start + 4 * n, start + 4 * (n - 1), target, n, kind, false, false, NULL };
	for (uint32_t i = 0; i < n; i++)
		b->offsets[i] = (uint16_t)(4 * i);
	b->older = f->blocks;
	f->blocks = b;
	walk_block(&f->walk, b);
}

/* The trace behind PSB+, as text: a letter for each packet, outcomes as 0 and 1. */
static const char *text_of(struct fixture *f)
{
	static char text[256];
	struct pt_packet_decoder *dec;
	struct pt_config config;
	struct pt_packet p;
	size_t n = 0;

	pt_config_init(&config);
	config.begin = f->core.spool.window;
	config.end = f->core.p;
	dec = pt_pkt_alloc_decoder(&config);
	pt_pkt_sync_forward(dec);
	while (pt_pkt_next(dec, &p, sizeof(p)) > 0)
		if (p.type == ppt_tnt_8 || p.type == ppt_tnt_64)
			for (unsigned i = p.payload.tnt.bit_size; i--;)
				text[n++] = '0' + (p.payload.tnt.payload >> i & 1);
		else if (p.type == ppt_tip || p.type == ppt_tip_pge || p.type == ppt_tip_pgd || p.type == ppt_fup)
			text[n++] = p.type == ppt_tip	    ? 'T'
				    : p.type == ppt_fup	    ? 'F'
				    : p.type == ppt_tip_pge ? 'E'
							    : 'D';
		else if (p.type == ppt_ptw)
			text[n++] = 'W';
	text[n] = '\0';
	pt_pkt_free_decoder(dec);
	return text;
}

static void test_branches(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, 3, INSN_COND, 0x2000); /* taken */
	run(f, 0x2000, 1, INSN_COND, 0x1000); /* not taken */
	run(f, 0x2004, 2, INSN_JUMP, 0x3000); /* says nothing */
	run(f, 0x3000, 1, INSN_JUMP_IND, 0);
	run(f, 0x4000, 5, INSN_NEXT, 0);
	run(f, 0x4014, 1, INSN_FAR, 0);
	walk_syscall(&f->walk);
	run(f, 0x4018, 1, INSN_NEXT, 0);
	assert_string_equal(text_of(f), "E10TDE");
	assert_int_equal(f->walk.instructions, 13);
	assert_int_equal(f->walk.surprises, 0);
}

/* A return to where the CALL was from is an outcome, another one an address. */
static void test_returns(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, 1, INSN_CALL, 0x2000);
	run(f, 0x2000, 1, INSN_CALL_IND, 0);
	run(f, 0x3000, 1, INSN_RET, 0);
	run(f, 0x2004, 1, INSN_RET, 0);
	run(f, 0x1004, 1, INSN_RET, 0);
	run(f, 0x9000, 1, INSN_NEXT, 0);
	core_psb(&f->core, 0x9004);
	assert_string_equal(text_of(f), "ET11TF");
}

/* Addresses wait behind outcomes, two of them here: not those of returns, and nothing passes them. */
static void test_deferred(void **state)
{
	struct fixture *f = *state;

	f->set.defer = 2;
	run(f, 0x1000, 1, INSN_COND, 0x2000);
	run(f, 0x2000, 1, INSN_JUMP_IND, 0);
	run(f, 0x3000, 1, INSN_COND, 0x9000);
	run(f, 0x3004, 1, INSN_JUMP_IND, 0);
	run(f, 0x4000, 1, INSN_COND, 0x5000);
	run(f, 0x5000, 1, INSN_CALL_IND, 0); /* the third */
	run(f, 0x6000, 1, INSN_COND, 0x7000);
	run(f, 0x6004, 1, INSN_JUMP_IND, 0);
	run(f, 0x8000, 1, INSN_RET, 0);
	run(f, 0x9000, 1, INSN_COND, 0x1000);
	run(f, 0x9004, 1, INSN_JUMP_IND, 0);
	run(f, 0xa000, 1, INSN_PTWRITE, 0);
	assert_int_equal(walk_ptwrite(&f->walk, 77, 0xa000, 8), WORD_TRACED);
	assert_string_equal(text_of(f), "E101TTT0TT0TW");
}

/* QEMU tells of an instruction across a page's end twice, and of a REP for each element. */
static void test_counts(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1ff0, 4, INSN_COND, 0x5000); /* the last one, at 0x1ffc, was rolled back */
	run(f, 0x1ffc, 1, INSN_NEXT, 0);
	run(f, 0x2000, 3, INSN_REPEAT, 0);
	run(f, 0x2008, 1, INSN_REPEAT, 0);
	run(f, 0x2008, 1, INSN_REPEAT, 0);
	run(f, 0x200c, 1, INSN_NEXT, 0);
	assert_int_equal(f->walk.instructions, 7);
	assert_int_equal(f->walk.surprises, 0);
	assert_string_equal(text_of(f), "E");
}

static void test_signals(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, 2, INSN_COND, 0x1000);
	walk_signal(&f->walk, 0x1008); /* not taken, then it came */
	run(f, 0x7000, 1, INSN_NEXT, 0);
	walk_signal(&f->walk, 0x7004);
	run(f, 0x8000, 4, INSN_JUMP, 0x8000);
	walk_signal(&f->walk, 0x8008); /* a fault at the third instruction */
	assert_string_equal(text_of(f), "E0FDEFDEFD");
	assert_int_equal(f->walk.instructions, 2 + 1 + 2);
	assert_int_equal(f->walk.surprises, 0);
}

static void test_words(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, 2, INSN_PTWRITE, 0);
	assert_int_equal(walk_ptwrite(&f->walk, 77, 0x1004, 8), WORD_TRACED);
	run(f, 0x1008, 1, INSN_NEXT, 0);
	run(f, 0x1010, 1, INSN_NEXT, 0); /* nobody said why */
	assert_string_equal(text_of(f), "EWFDE");
	assert_int_equal(f->walk.surprises, 1);
	assert_int_equal(f->core.tsc, 1000 + 3);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_branches), TEST(test_returns), TEST(test_counts),
		TEST(test_signals),  TEST(test_words),	 TEST(test_deferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
