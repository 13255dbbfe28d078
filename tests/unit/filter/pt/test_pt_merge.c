// SPDX-License-Identifier: MIT
/* test_pt_merge.c - words of several traces in the order of time, with their threads and cycles. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "pt/pt_merge.h"
#include "shared/marker.h"

#define PSB	    "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define TSC(c)	    "\x19" c "\0\0\0\0\0\0"
#define BEGIN(c)    PSB TSC(c) "\x02\x23"
#define AT(c, word) TSC(c) "\x0b\x02\x32" word "\0\0\0\0\0\0\0" /* a core cycle before each */
#define BAD	    "\x02\xff"

static const struct pt_clocks clocks = { .conv.mult = 1, .max_ratio = 1 };

struct log {
	char words[32];
	int32_t tids[32];
	uint64_t ns[32], cycles[32];
	unsigned n, gaps;
	char cpu[128];
};

static int word(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct log *log = to;

	(void)pid;
	log->words[log->n] = bits;
	log->tids[log->n] = tid;
	log->ns[log->n] = ns;
	log->cycles[log->n++] = cycles;
	return bits == '!' ? -1 : 0;
}

static int gap(void *to, int32_t pid, int32_t tid)
{
	struct log *log = to;

	(void)pid;
	(void)tid;
	log->gaps++;
	return 0;
}

static void init(struct pt_merge *m, struct log *log)
{
	memset(log, 0, sizeof(*log));
	*m = (struct pt_merge){ .clocks = &clocks, .feed = { word, gap, .to = log } };
	assert_int_equal(tasks_init(&m->tasks), 0);
}

/* A queue with one chunk. */
static void add(struct pt_merge *m, uint32_t idx, int32_t cpu, int32_t tid, const void *bytes, size_t size)
{
	struct pt_queue *q = pt_merge_queue(m, idx);
	struct pt_chunk chunk = { 0, size, 1 };

	q->fd = memfd_create("trace", 0);
	assert_int_equal(write(q->fd, bytes, size), size);
	q->cpu = cpu;
	q->tid = tid;
	q->follows_cpu = tid == -1;
	pt_walk_init(&q->walk, &clocks, false);
	assert_int_equal(pt_queue_add(q, &chunk), 0);
}

#define ADD(m, idx, cpu, tid, bytes) add(m, idx, cpu, tid, bytes, sizeof(bytes) - 1)

static void done(struct pt_merge *m)
{
	for (uint32_t i = 0; i < m->nqueues; i++)
		if (m->queues[i])
			close(m->queues[i]->fd);
	pt_merge_free(m);
}

static void test_threads(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, -1, 7, BEGIN("\x10") AT("\x11", "a") AT("\x14", "d") AT("\x16", "f"));
	ADD(&m, 2, -1, 8, BEGIN("\x10") AT("\x12", "b") AT("\x13", "c") AT("\x15", "e"));
	assert_int_equal(pt_merge_run(&m, 0x13), 0);
	assert_string_equal(log.words, "ab");
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "abcdef");
	assert_int_equal(log.tids[2], 8);
	assert_int_equal(log.ns[5], 0x16);
	done(&m);
}

/* A thread's cycles are those of all CPUs while it ran there. */
static void test_cpus(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, 0, -1, BEGIN("\x10") AT("\x11", "a") AT("\x12", "b") AT("\x18", "e"));
	ADD(&m, 1, 1, -1, BEGIN("\x10") AT("\x11", "A") AT("\x15", "c") AT("\x16", "d"));
	tasks_run(&m.tasks, 0, 5, 7);
	tasks_run(&m.tasks, 1, 5, 8);
	assert_int_equal(pt_merge_run(&m, 0x13), 0);
	pt_merge_come(&m, 0x13, 0, 5, 8); /* they change places */
	pt_merge_come(&m, 0x13, 1, 5, 7);
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_int_equal(log.n, 6);
	for (unsigned i = 0; i < log.n; i++) {
		bool is_7 = strchr("abcd", log.words[i]);

		assert_int_equal(log.tids[i], is_7 ? 7 : 8);
		if (log.words[i] == 'd' || log.words[i] == 'e')
			assert_int_equal(log.cycles[i], is_7 ? 4 : 2);
	}
	done(&m);
}

#define CBR1   "\x02\x03\x01\0" /* a cycle is a tick */
#define CYC(c) c		/* cycles * 8 + 3, below 32 */
#define PTW(c) "\x02\x32" c "\0\0\0\0\0\0\0"
#define FIRST  BEGIN("\x10") CBR1 CYC("\x0b") PTW("a") /* at 11 */

/*
 * After "a" of thread 7, at 11: 7 leaves at 15, 8 comes at 19, and "b" is 8's. How many cycles each had
 * between the words, and how many of them are shared by time.
 */
static const struct {
	const char *name, *bytes;
	size_t size;
	uint64_t had7, had8, shared;
} visits[] = {
#define VISIT(name, bytes, ...) \
	{ \
		name, bytes, sizeof(bytes) - 1, __VA_ARGS__ \
	}
	VISIT("nothing tells when", FIRST CYC("\x83") PTW("b"), 4, 8, 16),
	VISIT("it comes", FIRST CYC("\x23") TSC("\x19") CYC("\x43") PTW("b"), 4, 8, 0),
	VISIT("it comes; cycles in the end", FIRST TSC("\x19") CYC("\x43") PTW("b"), 0, 8, 0),
	VISIT("another leaves later", FIRST CYC("\x13") TSC("\x17") CYC("\x13") TSC("\x19") CYC("\x03") PTW("b"), 2, 0,
	      0),
	VISIT("it leaves in the middle", FIRST CYC("\x33") TSC("\x19") CYC("\x43") PTW("b"), 4, 8, 6),
	VISIT("PSB+ where it comes", FIRST CYC("\x23") BEGIN("\x19") CYC("\x43") PTW("b"), 4, 8, 0),
#undef VISIT
};

static void test_leave_and_come(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(visits) / sizeof(visits[0]); i++) {
		struct pt_merge m;
		struct log log;

		init(&m, &log);
		add(&m, 0, 0, -1, visits[i].bytes, visits[i].size);
		tasks_run(&m.tasks, 0, 5, 7);
		assert_int_equal(pt_merge_run(&m, 0x15), 0);
		pt_merge_leave(&m, 0x15, 0);
		pt_merge_leave(&m, 0x17, 1); /* another CPU */
		assert_int_equal(pt_merge_run(&m, 0x19), 0);
		assert_int_equal(pt_merge_come(&m, 0x19, 0, 5, 8), 0);
		assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
		assert_string_equal(log.words, "ab");
		assert_int_equal(log.tids[1], 8);
		if (log.cycles[1] != visits[i].had8 || m.shared != visits[i].shared ||
		    tasks_find(&m.tasks, 7)->cycles != 1 + visits[i].had7)
			fail_msg("%s: %d and %d, %d shared", visits[i].name, (int)tasks_find(&m.tasks, 7)->cycles - 1,
				 (int)log.cycles[1], (int)m.shared);
		done(&m);
	}
}

/* A word at the very moment when its thread leaves: the cycles up to it are the thread's. */
static void test_leave_at_a_word(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, 0, -1, FIRST CYC("\x23") PTW("b") CYC("\x03") TSC("\x19") CYC("\x43") PTW("c"));
	tasks_run(&m.tasks, 0, 5, 7);
	assert_int_equal(pt_merge_run(&m, 0x15), 0);
	pt_merge_leave(&m, 0x15, 0);
	assert_int_equal(pt_merge_run(&m, 0x19), 0);
	assert_int_equal(pt_merge_come(&m, 0x19, 0, 5, 8), 0);
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "abc");
	assert_int_equal(log.tids[1], 7);
	assert_int_equal(log.cycles[1], 5);
	assert_int_equal(log.cycles[2], 8);
	assert_int_equal(m.shared, 0);
	done(&m);
}

/* "a", four cycles up to 15; from 19 on so many waits of a tick, a cycle before each; a cycle, "b". How many bytes. */
static size_t put_waits(uint8_t *bytes, uint64_t waits)
{
	uint8_t *p = mempcpy(bytes, FIRST CYC("\x23"), sizeof(FIRST CYC("\x23")) - 1);

	for (uint64_t n = 0; n <= waits; n++) {
		uint64_t packet = (0x19 + 2 * n) << 8 | 0x19;

		p = mempcpy(p, &packet, sizeof(packet));
		p = mempcpy(p, CYC("\x0b"), 1);
	}
	return (uint8_t *)mempcpy(p, PTW("b"), sizeof(PTW("b")) - 1) - bytes;
}

/* As above, 7 leaves and 8 comes. What the walk has forgotten until "b" nothing tells any more. */
static void test_waits(void **state)
{
	static const struct {
		uint64_t waits, had7, shared;
	} cases[] = { { 0, 4, 0 }, { 16, 4, 0 }, { PT_BREAKS - 1, 4, 0 }, { PT_BREAKS, 5 * 4 / 9, 5 } };
	static uint8_t bytes[16 * (PT_BREAKS + 8)];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_merge m;
		struct log log;

		init(&m, &log);
		add(&m, 0, 0, -1, bytes, put_waits(bytes, cases[i].waits));
		tasks_run(&m.tasks, 0, 5, 7);
		assert_int_equal(pt_merge_run(&m, 0x15), 0);
		pt_merge_leave(&m, 0x15, 0);
		assert_int_equal(pt_merge_run(&m, 0x19), 0);
		assert_int_equal(pt_merge_come(&m, 0x19, 0, 5, 8), 0);
		assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
		assert_int_equal(tasks_find(&m.tasks, 7)->cycles, 1 + cases[i].had7);
		assert_int_equal(log.cycles[1], cases[i].waits + 1);
		assert_int_equal(m.shared, cases[i].shared);
		done(&m);
	}
}

/* A payload in short: i in, o out, p preempted, e the end; with the thread and the time. */
static int note_cpu(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	bool in = bits & MARKER_CPU_IN, preempted = bits & MARKER_CPU_PREEMPTED;
	struct log *log = to;
	size_t n = strlen(log->cpu);

	(void)pid;
	(void)cycles;
	snprintf(log->cpu + n, sizeof(log->cpu) - n, "%d%c%d ", tid,
		 bits == MARKER_CPU_ENDS ? 'e'
		 : in			 ? 'i'
		 : preempted		 ? 'p'
					 : 'o',
		 (int)ns);
	return bits == 0xbad ? -7 : 0;
}

/* A thread is told of from its first word on, where it is on a CPU; and of all until switches are missing. */
static void test_switches(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	m.feed.cpu = note_cpu;
	m.switches = true;
	ADD(&m, 0, 0, -1, BEGIN("\x10") AT("\x14", "a") AT("\x1a", "b"));
	ADD(&m, 1, 1, -1, BEGIN("\x10") AT("\x18", "c"));
	tasks_run(&m.tasks, 0, 5, 7);
	tasks_run(&m.tasks, 1, 5, 8);
	assert_int_equal(pt_merge_switch(&m, 0x12, 7, 0), 0); /* before its first word */
	assert_int_equal(pt_merge_run(&m, 0x15), 0);
	assert_int_equal(pt_merge_switch(&m, 0x15, 7, MARKER_CPU_PREEMPTED), 0);
	assert_int_equal(pt_merge_switch(&m, 0x15, 8, MARKER_CPU_IN), 0);
	assert_int_equal(pt_merge_switch(&m, 0x15, 99, MARKER_CPU_IN), 0); /* that nobody named */
	assert_int_equal(pt_merge_run(&m, 0x19), 0);
	assert_int_equal(pt_merge_switch(&m, 0x19, 8, 0xbad), -7);
	assert_int_equal(pt_merge_lose_switches(&m, 0x19), 0);
	assert_int_equal(pt_merge_lose_switches(&m, 0x19), 0);
	assert_int_equal(pt_merge_switch(&m, 0x19, 7, MARKER_CPU_IN), 0);
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "acb");
	assert_string_equal(log.cpu, "7i20 7p21 8i24 8o25 8e25 7e25 ");
	done(&m);
}

static void test_unknown_thread(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, 0, -1, BEGIN("\x10") AT("\x11", "a"));
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_int_equal(log.tids[0], -1);
	done(&m);
}

static void test_damage(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, -1, 7, BEGIN("\x10") AT("\x11", "a") BAD AT("\x12", "b") BEGIN("\x13") AT("\x14", "c"));
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "ac");
	assert_int_equal(log.gaps, 1);
	assert_int_equal(m.queues[0]->damages, 1);
	done(&m);
}

static void test_stops(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	ADD(&m, 0, -1, 7, BEGIN("\x10") AT("\x11", "!") AT("\x12", "b"));
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), -1);
	assert_int_equal(log.n, 1);
	done(&m);
}

/* A file may name any index: those before it that it does not use take no memory but for their places. */
static void test_far_index(void **state)
{
	struct pt_merge m;
	struct log log;
	uint32_t most = (1u << 20) - 1;

	(void)state;
	init(&m, &log);
	ADD(&m, most, -1, 7, BEGIN("\x10") AT("\x11", "a"));
	for (uint32_t i = 0; i < most; i++)
		assert_null(m.queues[i]);
	assert_null(pt_merge_queue(&m, most + 1));
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "a");
	done(&m);
}

static struct pt_merge *watched;
static unsigned most_loaded;

static int word_and_loaded(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < watched->nqueues; i++)
		n += watched->queues[i]->loaded.bytes != NULL;
	most_loaded = n > most_loaded ? n : most_loaded;
	return word(to, pid, tid, ns, cycles, bits);
}

/* Threads that live after one another: what has not begun takes no memory for its trace, nor what has ended. */
static void test_memory_of_threads_that_run(void **state)
{
	struct pt_merge m;
	struct log log;

	(void)state;
	init(&m, &log);
	m.feed.word = word_and_loaded;
	watched = &m;
	most_loaded = 0;
	ADD(&m, 0, -1, 10, BEGIN("\x10") AT("\x11", "a") AT("\x12", "b"));
	ADD(&m, 1, -1, 11, BEGIN("\x20") AT("\x21", "c") AT("\x22", "d"));
	ADD(&m, 2, -1, 12, BEGIN("\x30") AT("\x31", "e") AT("\x32", "f"));
	ADD(&m, 3, -1, 13, BEGIN("\x40") AT("\x41", "g") AT("\x42", "h"));
	assert_int_equal(pt_merge_run(&m, UINT64_MAX), 0);
	assert_string_equal(log.words, "abcdefgh");
	assert_in_range(most_loaded, 1, 2);
	done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_leave_and_come),
		cmocka_unit_test(test_leave_at_a_word),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_unknown_thread),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_far_index),
		cmocka_unit_test(test_memory_of_threads_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
