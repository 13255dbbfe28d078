/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - CYC packets of a clock that moves on in steps, as numbers of steps.
 *
 * The time stamp counter of an AMD EPYC was seen to move by 24.5 cycles at once, of another one by 26 (docs/pack.md).
 * The cycles between two times are then few different numbers, of one byte instead of two, and whether it was 24 or 25
 * follows from the steps before. A CYC of which that is not true, after a switch of threads for instance, stays whole.
 *
 *   number of steps + 1   LEB128; the CYC has the cycles of so many steps
 *   0, CYC                of other cycles, or longer than its cycles need
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The step of the clock of these CYC packets, in eighths of a cycle; 0: there is none. Each packet is whole. */
uint32_t ticks_step(const uint8_t *cycles, size_t n);

/* Writes the CYC packets as steps to `to`, which has n bytes. step: not 0. Returns how many it took; 0: not less. */
size_t ticks_put(uint32_t step, const uint8_t *cycles, size_t n, uint8_t *to);

/*
 * Writes the CYC packets of these steps to `to`, which has `most` bytes: PTPUT_CYC_MOST more than they take. step: not
 * 0. Returns their bytes, or -EBADMSG: that is not what ticks_put wrote.
 */
int64_t ticks_get(uint32_t step, const uint8_t *from, size_t n, uint8_t *to, size_t most);
