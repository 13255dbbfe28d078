/* SPDX-License-Identifier: MIT */
/*
 * pt_words.h - many words of a trace at once: PTWs, each with the CYC before it, which a recording consists of.
 *
 * Only where that makes no difference: words, times, cycles and the state of the walk are those that one step after the
 * other would have given. Of a trace that is only looked through (w->skims) nearly all are left out: WORDS_PASSED.
 */
#pragma once

#include "pt_walk_state.h"

/* As many as there are room for in w->words, up to w->quiet_until; false: none. The walk must be plain (pt_walk.c). */
bool pt_words(struct pt_walk *w);
