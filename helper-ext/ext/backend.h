/* SPDX-License-Identifier: MIT */
/*
 * backend.h - the ways for a marker word out of the process. Each has an emitter (arch/, emit_coarse.c, emit_ptwrite.c,
 * emit_emulated.c); lane.c knows what a thread needs for it.
 */
#pragma once

enum backend {
	BACKEND_SOFTWARE, /* a ring that ocular-record drains */
	BACKEND_PTWRITE,  /* Intel PT, by the instruction */
	BACKEND_EMULATED, /* Intel PT, by branches that perf reads as one */
	BACKENDS,
};
