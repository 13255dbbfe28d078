/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - how long a thread was not on a CPU.
 *
 * Its CPU words say when it was switched out and in (docs/marker.md). A thread without any may have been on one all the
 * time or not: that is not known. When a word is missing, the thread was on a CPU at its last event: nothing is ever
 * taken for more than it can have been. Behind MARKER_CPU_ENDS it is not known any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Part of a time that was not on a CPU. */
struct off {
	uint64_t ns;
	uint64_t waiting_ns; /* of these by its own will: it waited for something. Else it was preempted */
};

static inline void off_add(struct off *to, struct off more)
{
	to->ns += more.ns;
	to->waiting_ns += more.waiting_ns;
}

static inline struct off off_minus(struct off from, struct off less)
{
	return (struct off){ from.ns - less.ns, from.waiting_ns - less.waiting_ns };
}

struct cpu {
	bool known; /* there was a word, */
	bool lost;  /* and MARKER_CPU_ENDS: nothing is known from there on */
	bool out, preempted;
	uint64_t since_ns; /* it is out, and that is added up to here */
	struct off tail;   /* added since the thread's last event, */
	uint64_t tail_ns;  /* which was then */
};

/* What CPU_TIME words say. */
struct used {
	bool begun;
	uint64_t first_ns, last_ns; /* the first and the last one since the thread began */
	uint64_t ns;		    /* between those of all its beginnings */
};

/* A CPU_TIME word; the thread ends, and may begin anew. */
void used_word(struct used *u, uint64_t ns);
void used_end(struct used *u);

/* A CPU word at ns, after the thread's event at last_ns: how long the thread was off before it, not counted yet. */
struct off cpu_word(struct cpu *c, uint64_t payload, uint64_t ns, uint64_t last_ns);

/* The same until ns, where there is no word. */
struct off cpu_until(struct cpu *c, uint64_t ns, uint64_t last_ns);

/* What was added since the thread's event at last_ns. */
struct off cpu_tail(const struct cpu *c, uint64_t last_ns);

/* The thread's time ends, and begins anew with an event: it runs. */
void cpu_restart(struct cpu *c);
