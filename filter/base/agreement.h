/* SPDX-License-Identifier: MIT */
/*
 * agreement.h - the least number that any of several threads has, for whom each waits that needs to know it.
 *
 * Each member says its number, once, or leaves without.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct agreement {
	pthread_mutex_t mutex;
	pthread_cond_t reached;
	unsigned awaited; /* members that have not said anything yet */
	uint64_t least;	  /* of what was said */
};

/* Without members. */
void agreement_init(struct agreement *a);

/* There is one more. All are there before any of them says its number. */
void agreement_enter(struct agreement *a);

/* Waits until all have said theirs, or have left. The least of them. */
uint64_t agreement_reach(struct agreement *a, uint64_t mine);

void agreement_leave(struct agreement *a);

void agreement_destroy(struct agreement *a);
