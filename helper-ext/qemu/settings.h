/* SPDX-License-Identifier: MIT */
/*
 * settings.h - how the emulated processor traces: NAME=N words, like perf's event terms.
 *
 * The launcher checks them and passes them on in the environment, so that every process of the recording has the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handlers.h"
#include "ranges.h"

#define SETTINGS_TIPS 64u /* maximum number deferred; a processor has no such limit */

#define SETTINGS_ENV	"OCULAR_QEMU_SETTINGS" /* words, separated by blanks */
#define SETTINGS_SPOOLS "OCULAR_QEMU_SPOOLS"   /* folder of the spools, absolute */
#define SETTINGS_QEMU	"OCULAR_QEMU"	       /* qemu-x86_64 */
#define SETTINGS_PLUGIN "OCULAR_QEMU_PLUGIN"   /* ocular-qemu-pt.so */

struct settings {
	uint64_t branch;	  /* control flow too (BranchEn) */
	uint64_t cyc;		  /* CYC packets, */
	uint64_t cyc_thresh;	  /* none while fewer than 2^(N-1) cycles passed since the last; 0: each time */
	uint64_t mtc;		  /* MTC packets, */
	uint64_t mtc_period;	  /* one in 2^N ticks of the crystal clock */
	uint64_t noretcomp;	  /* a TIP for every RET */
	uint64_t defer;		  /* N: up to N TIPs wait behind a TNT that is not full; 0: none */
	uint64_t fup_on_ptw;	  /* the address of each PTWRITE */
	uint64_t psb;		  /* bytes from one PSB to the next */
	uint64_t overflow;	  /* N: of every 2 N PTWRITEs the second N are lost in an overflow; 0: none */
	uint64_t full;		  /* N: likewise, in a buffer that is full; not with overflow */
	uint64_t migrate;	  /* N: traces are of CPUs, and a thread goes to another after N PTWRITEs */
	uint64_t snapshot;	  /* bytes of a buffer that is overwritten; 0: nothing is */
	uint64_t every;		  /* N: it is read after N PTWRITEs, and at the end; 0: at the end */
	struct ranges filter;	  /* of addresses; may be given more than once */
	struct ranges tool;	  /* code that runs for the recording, not for the program (own.h); likewise */
	struct handlers handlers; /* that count as others (own.h); likewise */
	uint64_t numbered;	  /* processes and threads are named 1, 2, ... in the order in which they begin */
	uint64_t truth;		  /* write down what the emulator knows beside the trace */
};

/* Defaults: branch=0,cyc=1,psb=65536, the rest 0. */
void settings_init(struct settings *s);

/* Takes one word, NAME=N or NAME (=1), of `size` bytes. -ENOENT: no such name, or
 * file of a filter; -EINVAL: no such N. */
int settings_word(struct settings *s, const char *word, size_t size);

/* Takes words separated by blanks, up to the first error. Returns 0 or as above. */
int settings_words(struct settings *s, const char *words);

/* The program has this part of this file mapped. */
void settings_map(struct settings *s, uint64_t start, uint64_t size, uint64_t offset, const char *file);
