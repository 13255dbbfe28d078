/* SPDX-License-Identifier: MIT */
/*
 * summed_rows.h - what else the report lists by place: who waits, for which locks, who has the GIL, what is raised
 * where and what was specialized. The same place in several processes is one row (joined.h).
 *
 * Each function returns *n rows in one array, most first; NULL: no memory.
 */
#pragma once

#include "code/specialization.h"
#include "model/profile.h"

/* How each row begins. */
struct ranked {
	const struct code *code; /* of the first of the processes */
	uint64_t most;		 /* what ranks it; ns, but of exceptions */
};

/* A function that waits, by its time: by the kernel, or else as the program tells. For free(). */
struct waiting {
	struct ranked at;
	uint64_t calls;
	struct waits told, idle; /* idle: of these, as a pool's worker without a job */
};
struct waiting *summed_waiting(const struct profile *p, size_t *n);

/* Locks, by the time that they were waited for. For free(). */
struct summed_lock {
	struct ranked at; /* where it was made: the function, */
	int64_t line;
	struct wait_total waited;
};
struct summed_lock *summed_locks(const struct profile *p, size_t *n);

/* Who had the GIL while others waited for it. For free(). */
struct holder {
	struct ranked at;
	uint64_t calls;
};
struct holder *summed_holders(const struct profile *p, size_t *n);

/* How long threads waited for the GIL, ns. */
uint64_t summed_gil_ns(const struct profile *p);

/* Functions with instructions whose specialization is known, by the time that ranks functions. For free(). */
struct specialized_row {
	struct ranked at;
	struct specialization of; /* of all processes */
};
struct specialized_row *summed_specialization(const struct profile *p, size_t *n);

/* Exceptions by type and line, by their number. */
struct raised_row {
	struct ranked at;
	struct raised of; /* its handlers are owned */
};
struct raised_row *summed_raised(const struct profile *p, size_t *n);
void summed_raised_free(struct raised_row *rows, size_t n);
