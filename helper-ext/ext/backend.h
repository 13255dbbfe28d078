/* SPDX-License-Identifier: MIT */
/*
 * backend.h - the ways a marker word can take out of the process. The emitters (arch/,
 * emit_ptwrite.c, emit_emulated.c) are one for each; lane.c knows what a thread needs for it.
 */
#ifndef OCULAR_BACKEND_H
#define OCULAR_BACKEND_H

enum backend {
	BACKEND_SOFTWARE, /* a ring that ocular-record drains */
	BACKEND_PTWRITE,  /* Intel PT, by the instruction */
	BACKEND_EMULATED, /* Intel PT, by branches that perf takes for it */
	BACKENDS,
};

#endif
