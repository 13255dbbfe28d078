/* SPDX-License-Identifier: MIT */
/*
 * compiled.h - how long each thread runs code that the program generates itself: a JIT's.
 *
 * CPython's JIT puts each executor into anonymous memory of its own and makes that executable by mprotect (jit_alloc
 * and mark_executable in Python/jit.c of 3.14 and 3.15); nothing else in a Python does. The interpreter enters an
 * executor by a call or a jump, and compiled code goes back to it by a return. Meanwhile it continues in other
 * executors and calls C functions: that is time in compiled code, too, and counts for the executor that was entered. If
 * C code calls a traced Python function, which our markers show, its time does not count. The markers also show which
 * code object an executor is entered from.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

#define COMPILED_DEEPEST 256u	/* nesting on a thread; deeper ones are not counted */
#define COMPILED_CALLS	 65536u /* the same, of Python functions */

struct compiled_stay {
	uint64_t entry; /* address */
	uint32_t id;	/* of the code object; 0: it is not traced, and does not count */
	uint64_t since; /* TSC; the time before that is in ns */
	uint64_t ns;
	uint32_t called; /* Python functions open in it: meanwhile it does not count */
};

/* Of a thread. Zeroed: it runs nothing compiled. */
struct compiled_thread {
	bool inside; /* the block that ran last is compiled */
	uint32_t n;
	struct compiled_stay stays[COMPILED_DEEPEST];
	uint32_t *calls; /* ids of open code objects: room for COMPILED_CALLS, allocated on first use */
	uint32_t ncalls;
	uint64_t *words; /* that numbers stand for (docs/marker.md), by number */
	size_t nwords;
	uint32_t naming; /* the number that the next event word gets; 0: none */
};

/* An executor, or with entry 0 all executors of the code object whose memory was reused. */
struct compiled_sum {
	uint64_t entry, n, ns;
	uint32_t id;
};

/* Of a process. Zeroed but for the lock. */
struct compiled {
	pthread_mutex_t lock;
	struct compiled_range {
		uint64_t start, end;
	} * ranges;
	size_t nranges;
	struct compiled_sum *sums;
	size_t nsums;
};

/* Memory becomes executable, or it is unmapped or becomes data. */
void compiled_protect(struct compiled *c, uint64_t start, uint64_t size, bool executable);

bool compiled_holds(struct compiled *c, uint64_t ip);

/* A block begins at `tsc`, after `last` (NULL: after a system call). */
void compiled_block(struct compiled *c, struct compiled_thread *t, const struct block *last, const struct block *b,
		    uint64_t tsc);

/* The thread executes a PTWRITE: maybe a marker (shared/marker.h). */
void compiled_word(struct compiled_thread *t, uint64_t written, uint64_t tsc);

/*
 * Appends the results to the code table of process pid in `folder`, if it has one, as lines of kind `compiled`
 * (docs/marker.md), and forgets them.
 */
void compiled_write(struct compiled *c, const char *folder, uint32_t pid);

/* The results so far are another process's. */
void compiled_forget(struct compiled *c);

void compiled_thread_free(struct compiled_thread *t);
