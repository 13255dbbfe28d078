/* SPDX-License-Identifier: MIT */
/* skew.c - see skew.h. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "shared/ticks.h"
#include "skew.h"

#define ROUNDS	   2000
#define PATIENCE   50000000ull /* ns for a pair: the other processor may be busy */
#define ALL_PAIRS  32
#define NS_PER_SEC 1000000000ull

/* What the two pass to and fro, each on a cache line of its own. */
struct table {
	_Alignas(64) _Atomic uint64_t ping; /* its time when it was sent */
	_Alignas(64) _Atomic uint64_t pong;
	_Alignas(64) _Atomic int64_t there; /* the smallest so far */
	_Atomic bool ready, over;
};

static void settle_on(int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int64_t less(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The new word behind `old`, or `old` if there is none in time. */
static uint64_t await(_Atomic uint64_t *word, uint64_t old, const struct table *t, uint64_t deadline)
{
	uint64_t now;

	for (unsigned int i = 1; (now = atomic_load_explicit(word, memory_order_acquire)) == old; i++)
		if (atomic_load_explicit(&t->over, memory_order_relaxed) ||
		    (i % 4096 == 0 && clock_monotonic_ns() > deadline))
			break;
	return now;
}

typedef uint64_t (*read_fn)(void);

static void answer(struct table *t, int processor, read_fn read, uint64_t deadline)
{
	uint64_t sent = 0, seen;
	int64_t there = INT64_MAX;

	settle_on(processor);
	atomic_store(&t->ready, true);
	while ((seen = await(&t->ping, sent, t, deadline)) != sent) {
		there = less(there, (int64_t)(read() - seen));
		sent = seen;
		atomic_store_explicit(&t->there, there, memory_order_relaxed);
		atomic_store_explicit(&t->pong, read(), memory_order_release);
	}
	_exit(0);
}

static struct skew_pair ask(struct table *t, read_fn read, uint64_t deadline)
{
	int64_t back = INT64_MAX;
	uint64_t sent = 0, seen;

	while (!atomic_load(&t->ready) && clock_monotonic_ns() < deadline)
		sched_yield();
	for (int i = 0; i < ROUNDS; i++) {
		atomic_store_explicit(&t->ping, read(), memory_order_release);
		seen = await(&t->pong, sent, t, deadline);
		if (seen == sent)
			break;
		back = less(back, (int64_t)(read() - seen));
		sent = seen;
	}
	atomic_store(&t->over, true);
	return (struct skew_pair){ atomic_load(&t->there), back };
}

static int measure_pair(struct skew_bounds *b, struct table *t, int first, int second, read_fn read)
{
	uint64_t deadline = clock_monotonic_ns() + PATIENCE;
	struct skew_pair p;
	pid_t pid;

	*t = (struct table){ .there = INT64_MAX };
	settle_on(first);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer(t, second, read, deadline);
	}
	p = ask(t, read, deadline);
	waitpid(pid, NULL, 0);
	if (p.there != INT64_MAX && p.back != INT64_MAX)
		skew_add(b, p);
	return 0;
}

void skew_add(struct skew_bounds *b, struct skew_pair p)
{
	int64_t low = less(p.there, p.back), most = llabs(p.there) > llabs(p.back) ? llabs(p.there) : llabs(p.back);

	if (!b->pairs++ || low < b->closest)
		b->closest = low;
	if ((uint64_t)most > b->most)
		b->most = (uint64_t)most;
}

static int measure_both(struct skew *s, struct table *t, int first, int second)
{
	int err = measure_pair(&s->clocks, t, first, second, ticks_in_order);

	return err ? err : measure_pair(&s->early, t, first, second, ticks_now);
}

static int measure(struct skew *s, struct table *t, const cpu_set_t *allowed)
{
	int err = 0;

	for (int a = 0; !err && a < CPU_SETSIZE; a++) {
		if (!CPU_ISSET(a, allowed))
			continue;
		for (int b = a + 1; !err && b < CPU_SETSIZE; b++)
			if (CPU_ISSET(b, allowed))
				err = measure_both(s, t, a, b);
		if (s->processors > ALL_PAIRS)
			break;
	}
	return err;
}

int skew_measure(struct skew *s)
{
	struct table *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t allowed;
	int err;

	if (t == MAP_FAILED || sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	*s = (struct skew){ .processors = (unsigned int)CPU_COUNT(&allowed) };
	err = measure(s, t, &allowed);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	munmap(t, sizeof(*t));
	return err;
}

/* Rounded up. */
static uint64_t ns_of(uint64_t ticks, uint64_t hz)
{
	return (ticks * NS_PER_SEC + hz - 1) / hz;
}

static void tell_closest(const struct skew_bounds *b, uint64_t hz)
{
	if (b->closest < 0)
		printf("up to %llu ns before its cause", (unsigned long long)ns_of((uint64_t)-b->closest, hz));
	else
		printf("at least %llu ns after its cause",
		       (unsigned long long)((uint64_t)b->closest * NS_PER_SEC / hz));
}

int skew_tell(const struct skew *s, uint64_t hz)
{
	if (s->processors == 1) {
		puts("one processor: all times are of one clock");
		return 0;
	}
	if (!s->clocks.pairs || !s->early.pairs) {
		printf("%u processors, too busy to compare their clocks\n", s->processors);
		return 1;
	}
	printf("those of %u processors differ by at most %llu ns: an effect on another one is ", s->processors,
	       (unsigned long long)ns_of(s->clocks.most, hz));
	tell_closest(&s->clocks, hz);
	printf("; as markers read them, ");
	tell_closest(&s->early, hz);
	puts("");
	return s->clocks.closest < 0;
}
