/* SPDX-License-Identifier: MIT */
/*
 * profile_join.h - the totals of processes that were analysed apart, added to those of the others (codes_part.h).
 *
 * What is a sum, a least or a greatest is the same in any order. What is in the order of time has its time. The rest
 * cannot be joined: which part of a recording it is in must be analysed together with all others.
 */
#pragma once

#include "profile.h"

/* What there is that cannot be joined, for people: "it has requests"; NULL: nothing. */
const char *profile_unjoinable(const struct profile *p);

/*
 * Adds a part whose codes were given back, and whose threads have ended, to the profile. 0; -ENOMEM; -EAGAIN: it must
 * be analysed together with the others.
 */
int profile_join(struct profile *to, const struct profile *part);
