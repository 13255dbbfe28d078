/* SPDX-License-Identifier: MIT */
/*
 * kept.h - switches of a thread that wait for its next word, beyond those that the kernel's buffer has room for.
 *
 * A thread tells afterwards what it waited for, at the times when it did. One that waits for the GIL looks for it every
 * 5 ms, so it is switched twice, and the kernel's buffer is half full in 1.7 s.
 */
#pragma once

#include <stddef.h>

#include "switches.h"

/* 400 KB a thread, for 41 s of waiting for the GIL. */
#define KEPT_MOST (1u << 14)

struct kept_switch {
	struct switched at;
	uint32_t stack; /* of a sample: its number; 0: it tells nothing */
};

/* Oldest first, from `first` to n. Zeroed: there are none. */
struct kept {
	struct kept_switch *all;
	size_t first, n, room;
};

/* False: no memory. */
bool kept_add(struct kept *k, const struct switched *sw, uint32_t stack);

/* The oldest, valid until it is taken; NULL: there is none. */
const struct kept_switch *kept_oldest(const struct kept *k);
void kept_take(struct kept *k);

/* Are they too many to be kept? */
bool kept_full(const struct kept *k);

void kept_free(struct kept *k);
