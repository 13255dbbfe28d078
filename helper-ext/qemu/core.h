/* SPDX-License-Identifier: MIT */
/*
 * core.h - the part of an emulated core that writes its trace: Intel Processor Trace according to the SDM (volume 3,
 * "Intel Processor Trace"), one cycle an instruction.
 *
 * The caller says what happened (instructions ran, a branch was taken, tracing goes off); this writes packets: PSB+ at
 * regular distances, outcomes of branches collected into TNT, addresses compressed, matching returns as a bit of a TNT,
 * CYC before each packet that has one, MTC at each tick of the crystal clock, TIPs deferred behind a TNT if requested.
 * A core of TSC frequency 1 GHz: one cycle, one instruction, one nanosecond.
 *
 * With branch=0 only PTW and the times are written, as by a processor whose BranchEn is 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"
#include "spool.h"

#define CORE_CALLS    64u /* remembered by RET compression (SDM, "RET Compression") */
#define CORE_RATIO    10u /* of CBR: 1 GHz over the bus clock of 100 MHz */
#define CORE_CTC      40u /* TSC ticks a tick of the crystal clock (25 MHz) */
#define CORE_TSC_HZ   1000000000ull
#define CORE_TSC_ZERO 1000000000ull /* when a recording begins: 0 would be "no time" for perf */

struct core {
	const struct settings *set;
	struct spool spool;
	uint8_t *p;	   /* next packet */
	uint64_t tsc;	   /* now */
	uint64_t cycles;   /* since the last CYC packet */
	uint64_t last_ip;  /* for compression */
	uint64_t outcomes; /* waiting for a TNT */
	unsigned noutcomes;
	uint64_t tips[SETTINGS_TIPS]; /* deferred: they come after the outcomes */
	unsigned ntips;
	uint64_t calls[CORE_CALLS];
	uint64_t ncalls;    /* pushed, less popped */
	uint64_t oldest;    /* of calls: those below it were overwritten, or forgotten */
	uint64_t next_psb;  /* in bytes of the trace */
	uint64_t next_mtc;  /* as TSC */
	bool enabled;	    /* packets of control flow are written (PacketEn) */
	struct core *older; /* in a list of CPUs */
	uint32_t cpu;	    /* its number; -1: the trace is a thread's */
	bool busy;	    /* a thread runs on it */
	uint64_t words;	    /* PTWRITEs, lost ones too */
	uint64_t ran;	    /* instructions */
	bool silent;	    /* packets are being lost: an overflow, or a full buffer */
	bool turns;	    /* which begins, or ends, with the next block */
	bool mode_reported; /* since the last PSB: 64-bit code */
};

/* Opens a trace at `tsc`. Returns 0 or a negative errno. */
int core_open(struct core *c, const struct settings *set, const char *path, const struct spool_head *head);

/* n instructions ran. */
static inline void core_run(struct core *c, uint64_t n)
{
	c->tsc += n;
	c->cycles += n;
	c->ran += n;
}

/* The last n instructions do not count. Only if no packet was written since. */
static inline void core_back(struct core *c, uint64_t n)
{
	c->tsc -= n;
	c->cycles -= n < c->cycles ? n : c->cycles;
	c->ran -= n;
}

/* The core slept until `tsc`, if that is later than now. */
void core_sleep(struct core *c, uint64_t tsc);

/* Control flow. Without effect with branch=0 or while not enabled. */
void core_cond(struct core *c, bool taken);
void core_indirect(struct core *c, uint64_t to);
void core_call(struct core *c, uint64_t back); /* `back`: the address after the CALL */
void core_return(struct core *c, uint64_t to);

/* Tracing is switched on at ip; off at a far transfer, or by a branch to `to`, or before `at`. */
void core_enable(struct core *c, uint64_t ip);
void core_disable(struct core *c);
void core_disable_to(struct core *c, uint64_t to);
void core_interrupt(struct core *c, uint64_t at);

/* A PTWRITE of 4 or 8 bytes at ip. False: its packet was lost. */
bool core_ptwrite(struct core *c, uint64_t word, uint64_t ip, unsigned bytes);

/* With c->turns: the next instruction is at ip. */
void core_turn(struct core *c, uint64_t ip);

/* Bytes of the trace so far. */
static inline uint64_t core_at(const struct core *c)
{
	return c->spool.at + (uint64_t)(c->p - c->spool.window);
}

/* Whether a PSB is due; if so the caller calls again when it knows the address of the next instruction. */
static inline bool core_wants_psb(const struct core *c)
{
	return !c->silent && core_at(c) >= c->next_psb;
}

void core_psb(struct core *c, uint64_t ip);
