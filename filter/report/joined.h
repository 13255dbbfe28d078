/* SPDX-License-Identifier: MIT */
/*
 * joined.h - rows of one place in several processes become one row.
 *
 * Code objects of equal file, first line, qualname and origin are of one place: as `ocular diff` has it. A row is any
 * struct that begins with its `const struct code *`; NULL, of no code, is a place, too.
 */
#pragma once

#include <sys/types.h>

#include "code/codes.h"

/* What tells rows of one place apart beside it: less than, equal to or more than 0. */
typedef int joined_key(const void *row, const void *other);

/* Adds `more` to `to`. 0 or a negative errno. */
typedef int joined_add(void *to, void *more);

/*
 * Sorts n rows of `size` bytes by place and key (NULL: none), and joins those that have both in common to the one of
 * the first process. How many are left, the first ones, or what `add` returned. The others are zeroed: who frees
 * what is in rows may free that of all n, in any case.
 */
ssize_t joined_rows(void *rows, size_t n, size_t size, const struct codes *codes, joined_key *key, joined_add *add);
