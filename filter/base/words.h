/* SPDX-License-Identifier: MIT */
/*
 * words.h - words of some threads, in arrays: what the decoder of packets passes on in batches.
 *
 * 16 bytes a word are read, and 8 more where its thread's cycles are not those of a clock. Whose they are is said once
 * a run.
 */
#pragma once

#include <stdint.h>

#define WORDS_MAX     1024
#define WORD_RUNS_MAX 256

/*
 * Where words are only looked through, this bit and the 32 bits of an event's number (marker.h) stand for several
 * events of which only the first, right before it, and the last, this one, are told. Each came at most
 * WORDS_PASSED_TICKS after the one before. No marker has these bits.
 */
#define WORDS_PASSED	   (1ull << 32)
#define WORDS_PASSED_TICKS 4095

enum word_run_kind {
	RUN_WORDS,
	RUN_BRANCHES,			 /* `bits` is the target of an indirect branch */
	RUN_LAST_OF_MANY = RUN_BRANCHES, /* others are of one word or none */
	RUN_CPU, /* `bits` is a payload of KIND_CPU (marker.h): the thread comes to a CPU or leaves it */
	RUN_GAP, /* of no words: here words may be missing */
};

/* Consecutive words of one thread. */
struct word_run {
	int32_t pid, tid; /* -1: not known */
	uint32_t n;
	enum word_run_kind kind;
};

struct words {
	uint32_t n, nruns;
	struct word_run runs[WORD_RUNS_MAX];
	uint64_t bits[WORDS_MAX], ns[WORDS_MAX];
	uint64_t cycles[WORDS_MAX]; /* core cycles of the thread until then; or the TSC (pt_trace_tell_ticks()) */
};

static inline int words_full(const struct words *w)
{
	return w->n == WORDS_MAX || w->nruns == WORD_RUNS_MAX;
}
