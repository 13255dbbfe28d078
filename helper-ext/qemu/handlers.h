/* SPDX-License-Identifier: MIT */
/*
 * handlers.h - opcode handlers that run because a program is traced, and what they count as.
 *
 * A rule is written AT/AS@FILE: the handler at AT counts as many instructions as the one at AS takes; or
 * AT/AS/AFTER@FILE: after the one at AFTER, both count as the one at AS (a super-instruction). Offsets in the file,
 * hexadecimal; AS may be 0, for nothing. How many instructions a handler takes is learnt before the first PTWRITE,
 * because an interpreter starts untraced: as many of its own code as it takes in most cases, counted separately where
 * it calls something. A handler that has not run by then counts as it is until it has.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDLERS_MAX 32u
#define RULES_MAX    16u

struct handler {
	uint64_t offset; /* in the file */
	uint64_t at;	 /* in the program; 0: not mapped yet */
	struct handler_cost {
		uint32_t cost;	/* instructions; 0: not known */
		uint32_t votes; /* that it is that */
	} costs[2];		/* where it calls nothing; where it calls */
};

struct handler_rule {
	const struct handler *at, *as, *after; /* as, after: or NULL */
};

struct handlers {
	char file[PATH_MAX]; /* of all of them */
	struct handler each[HANDLERS_MAX];
	struct handler_rule rules[RULES_MAX];
	unsigned n, nrules;
};

/* Takes a rule of `size` bytes. -EINVAL: it is not a rule; -ENOSPC: too many; -ENOENT: no such file. */
int handlers_add(struct handlers *h, const char *text, size_t size);

/* The program has this part of this file mapped. */
void handlers_map(struct handlers *h, uint64_t start, uint64_t size, uint64_t offset, const char *file);

/* The handler that begins at ip, or NULL. */
struct handler *handlers_find(struct handlers *h, uint64_t ip);

/* It was seen to take that many instructions. After the first PTWRITE only unknown numbers are learnt. */
void handler_took(struct handler *h, bool calls, uint32_t cost, bool late);

/* The rule for it after `previous` (or NULL); NULL: it counts as itself. */
const struct handler_rule *handlers_rule(const struct handlers *h, const struct handler *at,
					 const struct handler *previous);

/* How many instructions it counts as; how many more when it calls something. */
uint32_t handler_count(const struct handler_rule *r);
uint32_t handler_count_of_call(const struct handler_rule *r);
