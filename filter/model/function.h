/* SPDX-License-Identifier: MIT */
/*
 * function.h - the totals of one code object: its calls, its loops, its instructions.
 *
 * Made when the code first runs; owned by struct code. Definitions are cProfile's: a call is one PY_START; it is
 * recursive when the same code is already on the same stack; total time counts the outermost activation only, self time
 * leaves out what it called.
 */
#pragma once

#include <stdint.h>

#include "code/code.h"
#include "code/extent.h"
#include "cpu.h"
#include "stat.h"
#include "sampled.h"
#include "waits.h"

struct form_counts; /* forms.h */
struct paths;	    /* paths.h */
struct stack;	    /* stack.h */

/* One loop of the source (heads.h). */
struct loop {
	const struct code *code;
	int64_t head;		 /* bytes */
	int32_t line;		 /* of its `while` or `for`; 0: unknown */
	struct extent extent;	 /* as far as the code table or the trace shows it */
	uint64_t entries;	 /* times it was entered and took a back-edge */
	uint64_t iterations;	 /* back-edges taken */
	uint64_t time;		 /* ns of timed trips, without those inside an outer activation */
	uint64_t own_time;	 /* ns of timed trips without timed trips of loops inside them, callees' too */
	uint64_t suspended_ns;	 /* in timed trips, in which the generator was suspended; in none of these times */
	struct off off, own_off; /* of these */
	uint64_t uops;		 /* bytecodes of all timed trips: counted, or those of the block */
	struct paths *paths;	 /* the paths of its trips, NULL unless asked for (sink_bridges.h) */
	struct stat_sum cycles;	 /* of timed trips: back-edge to back-edge within one entry */
	struct stat_sum trips;	 /* back-edges of each entry whose end was seen */
};

/* What ran next on the thread: the pair of an instruction, in the form that ran, and this one. */
struct follower {
	uint8_t from;		/* opcode that ran, of the instruction itself */
	uint8_t base, adaptive; /* of the next one: the compiler's; what ran */
	uint64_t n;
	uint64_t ns; /* of the next one, for these executions */
};

/* One form that an instruction ran in, if samples have it (sample.h: opcode). */
struct instr_form {
	uint8_t opcode;
	uint8_t kind;		       /* enum form_kind */
	uint64_t n, timed, ns, cycles; /* as below */
};

/* What one instruction cost: from its INSTRUCTION event to the thread's next one. */
struct instr_cost {
	uint64_t n;		    /* INSTRUCTION events */
	uint64_t timed;		    /* of these: the end was seen, no gap in between */
	uint64_t ns, cycles;	    /* of the timed ones, calls and the callback included */
	uint64_t waiting_ns;	    /* of these, as far as it is known when the thread was on a CPU */
	struct follower *followers; /* in order of first appearance */
	uint32_t nfollowers;
	uint16_t nforms;
	uint8_t last_form;	     /* the last one it ran in, of those that forms.h counts; 0 */
	struct form_counts *changes; /* forms.h; NULL: there were none */
	struct instr_form *forms;    /* NULL: samples do not have it; what ran is the code table's adaptive opcode */
};

/* Some processes, each once, ascending. */
struct pids {
	int32_t *all;
	uint32_t n;
};

/* 0 or -ENOMEM. */
int pids_add(struct pids *p, int32_t pid);

/* The cost of one line, from its LINE event to the activation's next one, without called functions. */
struct line_cost {
	uint64_t n;
	uint64_t cycles;
	uint64_t waiting_ns; /* of its time, as far as it is known when the thread was on a CPU */
};

struct function {
	/* What each activation needs is in the first lines of the processor's cache. */
	_Alignas(64) const struct stack *stack; /* where it ran last, */
	struct activity *activity;		/* and its frames there (stack.c) */
	uint64_t calls, recursive_calls;
	uint64_t total_ns, self_ns;
	uint64_t total_cycles, self_cycles;
	struct spread self_spread;	/* of the cycles of each activation, without called functions */
	uint64_t resumes;		/* of generators and coroutines: PY_RESUME, PY_THROW */
	uint64_t suspended_ns;		/* from their yields to their resumptions */
	uint64_t objects;		/* generators and coroutines of it; */
	bool cpu_unknown;		/* it also ran in threads without CPU words: those say too little */
	uint8_t at_once;		/* of late it returned so (thread_quick.c); 0: it did not */
	uint64_t events[OP_COUNT];	/* of its code, by op, whatever their effect on the stack */
	uint64_t older_objects;		/* of `objects`, begun before the trace */
	uint64_t ended_objects;		/* those whose beginning and end were seen, */
	uint64_t lifetime_ns;		/* from the one to the other */
	uint64_t unfinished;		/* activations whose end was not seen */
	uint64_t open_ns;		/* self time of activations that are open: during sink_ops.second */
	struct off total_off, self_off; /* of total_ns, self_ns */
	struct waits *waits;		/* NULL: none */
	struct waits *idle;		/* of these: of a worker of a pool for a job (idle.h); NULL: none */
	struct sampled *sampled;	/* the same */
	uint64_t gil_held_ns;		/* it ran with the GIL while other threads waited for it; for each of them */
	struct loop **loops;		/* ascending heads */
	uint32_t nloops;
	struct instr_cost *costs; /* [code->ninstrs], NULL until an INSTRUCTION event was seen */
	struct pids pids;	  /* processes it ran in: its code may be a parent's */
	struct line_cost *lines;  /* [nlines], NULL until a LINE event was seen */
	int32_t first_line;	  /* of lines[0] */
	uint32_t nlines;
	bool lineless; /* a LINE event was seen, but code_lines() has no range for it */
};

/* The totals of a code object, made on first use. NULL: no memory. */
struct function *function_of(struct code *code);

/* How many loops begin before an offset: the index of the first that does not. */
uint32_t function_loops_before(const struct function *f, int64_t offset);

/* The loop at head, made on first use. NULL: no memory. */
struct loop *function_loop(struct code *code, int64_t head);

/* The cost of the instruction at offset, made on first use. NULL: no memory, no such instruction. */
struct instr_cost *function_cost(struct code *code, int64_t offset);

/* Counts what ran next: `pair` without its counts. Its index in followers, or -ENOMEM. */
int instr_cost_follow(struct instr_cost *cost, struct follower pair);

/* The form of that opcode, made on first use. NULL: no memory. */
struct instr_form *instr_cost_form(struct instr_cost *cost, uint8_t opcode);

/* The cost of a line, made on first use. NULL: no memory, no such line, too many lines to be believed. */
struct line_cost *function_line(struct code *code, int64_t line);

/*
 * An estimate of how much of a function's self time CPython looked up the lines of its LINE events: in some versions
 * that takes longer, the further they are from its first one. At most self_ns, without what it was off
 * a CPU.
 */
uint64_t function_lookup_ns(const struct code *code);

/* An activation of it, or a part of one, took so long, with and without what it called. */
static inline void function_ran(struct function *f, uint64_t ns, uint64_t cycles, uint64_t callee_ns,
				uint64_t callee_cycles, bool recursive)
{
	f->self_ns += ns - callee_ns;
	f->self_cycles += cycles - callee_cycles;
	spread_add(&f->self_spread, cycles - callee_cycles);
	if (recursive)
		return;
	f->total_ns += ns;
	f->total_cycles += cycles;
}

/*
 * Adds the totals of the same code object in another part of the recording (codes_part.h), but for what INSTRUCTION
 * events cost. 0 or -ENOMEM.
 */
int function_join(struct code *to, const struct code *from);

/* Frees what code->function points to. */
void function_free(struct code *code);
