/* SPDX-License-Identifier: MIT */
/*
 * profile.h - the totals of a whole trace, for the sinks that report them at the end.
 *
 * The code objects hold the functions and loops (function.h); profile_functions and profile_loops list them in the
 * order of the report.
 */
#pragma once

#include "code/codes.h"
#include "collections.h"
#include "exceptions.h"
#include "forms.h"
#include "function.h"
#include "greenlets.h"
#include "imports.h"
#include "locks.h"
#include "requests.h"
#include "sample.h"
#include "spans.h"
#include "steps.h"
#include "async_tasks.h"

struct chains; /* chains.h */

struct thread_total {
	int32_t pid, tid;
	uint64_t wall_ns;     /* its part of traced_ns */
	struct off off;	      /* of that */
	bool cpu_known;	      /* there were CPU words */
	uint64_t used_ns;     /* of wall_ns on a CPU, if not by those then by CPU_TIME words; 0: not known */
	uint64_t gil_ns;      /* waiting for the GIL */
	uint64_t gil_held_ns; /* it had the GIL while others waited; for each of them */
};

struct profile {
	struct codes *codes;
	uint64_t events[OP_COUNT]; /* samples by op: names from sample_op_name */
	uint64_t gaps;		   /* places where markers are missing */
	uint64_t lost_markers;	   /* markers known to be missing there, and at the ends (codes.h stop) */
	uint64_t foreign;	   /* PTWRITEs that are not ours */
	uint64_t unmatched;	   /* calls and returns whose other end was not seen, though no marker is missing */
	uint64_t mismatches;	   /* places where this happened */
	uint64_t backwards;	   /* samples whose time is before their thread's last one */
	uint64_t first_ns;	   /* first sample of all threads, inside a time window or not */
	uint64_t start_ns, end_ns; /* first and last sample of all threads, in the window */
	uint64_t traced_ns;	   /* sum over threads of last minus first sample */
	uint64_t traced_cycles;
	uint64_t outside_ns, outside_cycles; /* of these: when no activation was known */
	struct off traced_off, outside_off;  /* of these */
	struct waits outside_waits;	     /* of these */
	struct waits all_waits;		     /* of all functions, and outside of them */
	struct waits idle_waits;	     /* of these: of workers of a pool for a job (idle.h) */
	uint64_t samples;		     /* of C functions, */
	uint64_t outside_samples;	     /* of these when no activation was known */
	uint64_t known_kinds;		     /* EXTENSION words that are read here */
	uint64_t unseen;		     /* threads without CPU words: when they were on a CPU is not known, */
	uint64_t untold;		     /* and of so many of these not even how long */
	uint64_t cpu_ns;		     /* of traced_ns on a CPU, as far as it is known */
	struct instr_cost no_opcode;	     /* of these: before a first INSTRUCTION, or beside gaps */
	struct instr_cost unknown_opcode;    /* INSTRUCTIONs of code whose bytecode is in no table */
	struct forms forms;		     /* over time, mode opcodes */
	struct chains *chains;		     /* of opcodes; NULL: they are not counted */
	uint64_t threads, processes;
	struct collections collections;
	struct imports imports;
	struct exceptions exceptions;
	struct locks locks;
	struct spans spans;
	struct steps steps;
	struct async_tasks tasks;
	struct requests requests;
	struct greenlet_totals greenlets;
	struct thread_total *thread_totals; /* `threads` of them, by pid and tid; owned by the trace */
	struct {
		uint64_t window_ns, period_ns; /* 0: there is none */
		uint64_t windows;	       /* as in the process with most of them */
		uint64_t traced_ns, lived_ns;  /* summed over processes */
	} duty;
	const char *clock;	/* "tsc", "core", "emulated"; "ns" when no frequency is known.
				    * NULL until the end, unless the front end names it */
	uint64_t shared_cycles; /* of the core: were divided by time between threads */
	uint32_t cycles_apart;	/* of the core: recorded only after this many; 0: with each packet */
	uint64_t clock_hz;	/* 0: unknown */
	uint32_t coarse;	/* of the processes the most: the time was read for one word of so many; 0: for each */
	const char *file;	/* name of the file that is read; NULL: unknown */
	bool cut;		/* the file ends before its records did */
	uint64_t damaged;	/* places in it that could not be read, while it is followed */
	const char *mode;	/* of the first process whose table has it; NULL: unknown */
	bool zoomed;		/* a time window was asked for: what is known of the whole alone does not fit */
};

/* EXTENSION words of kinds that nothing here reads. */
static inline uint64_t profile_skipped(const struct profile *p)
{
	return p->events[OP_EXTENSION] - p->known_kinds;
}

/* Is it known of all threads when they were on a CPU? Not before the end. */
bool profile_has_cpu(const struct profile *p);

/* Were C functions to be sampled? */
static inline bool profile_is_sampled(const struct profile *p)
{
	return p->samples || p->codes->natives.asked;
}

/* Does the program tell what it waits for? */
bool profile_has_waits(const struct profile *p);

/*
 * By which time: all of it, that on a CPU, that of waiting; of functions only: that of waits which the program tells
 * of, and that with the GIL while others waited.
 */
enum rank { RANK_TIME, RANK_CPU, RANK_WAITING, RANK_WAITS, RANK_GIL };

/* A function's, ns. */
uint64_t profile_ranked(const struct function *fn, enum rank rank);

/* What people are shown first: who uses the CPU, if that is known, or else the time. */
enum rank profile_rank(const struct profile *p);

/* All code objects that ran, most self time first. *n of them, in one malloc'ed array; NULL: no memory. */
struct code **profile_functions(const struct profile *p, size_t *n, enum rank rank);

/* All C functions that were called; both together. Likewise. */
struct code **profile_c_functions(const struct profile *p, size_t *n, enum rank rank);
struct code **profile_all_functions(const struct profile *p, size_t *n, enum rank rank);

/* The time of collections of each generation, without what ran in them (finalizers). */
struct collections_own {
	uint64_t ns, cycles;
	struct off off;
};
void profile_collections(const struct profile *p, struct collections_own own[GENERATIONS]);

/* All loops, most time first; likewise. */
struct loop **profile_loops(const struct profile *p, size_t *n, enum rank rank);

/* The process that started the others, as far as the tables say: without a parent, smallest pid. NULL: none. */
const struct process *profile_root(const struct profile *p);

/* All processes, that one first, the others by pid. Likewise *n of them in one malloc'ed array, NULL: no memory. */
const struct process **profile_processes(const struct profile *p, size_t *n);

/*
 * Did INSTRUCTION events come from callbacks, which prevent specialisation? Otherwise they came from branch packets
 * (mode opcodes), or there were none.
 */
bool profile_instrumented(const struct profile *p);

/* Does the program's interpreter specialize bytecode? (Free-threaded CPython 3.13 does not.) */
bool profile_specializes(const struct profile *p);

/* Has a process greenlets whose switches are not told? */
bool profile_has_untold(const struct profile *p);

/* Does an interpreter compile hot loops (CPython's JIT)? */
bool profile_jit(const struct profile *p);

/* A loop's part of the traced time, 0..1. */
double profile_share(const struct profile *p, const struct loop *loop);

/* The same without inner loops: over all loops it adds up to at most 1. */
double profile_own_share(const struct profile *p, const struct loop *loop);
