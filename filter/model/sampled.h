/* SPDX-License-Identifier: MIT */
/*
 * sampled.h - how often a Python function was found in which C functions: samples, and never a time.
 *
 * A share of n samples is known to within sampled_error(), one standard deviation. What the kernel does for a thread
 * is not sampled.
 */
#pragma once

#include "base/map.h"
#include "code/code.h"
#include "code/natives.h"

struct profile;

struct sampled {
	struct map stacks; /* number -> uint64_t *count */
	uint64_t n;
};

int sampled_add(struct sampled *s, uint32_t stack);
int sampled_join(struct sampled *to, const struct sampled *more);
void sampled_free(struct sampled *s);

/* A C function in the samples of one Python function. */
struct sampled_row {
	const struct native_function *function; /* NULL: no table says what it is */
	uint64_t n;				/* it ran, or what it called */
	uint64_t self;				/* it ran itself */
	size_t depth;				/* how many ran inside it, at the least */
};

/*
 * Most samples first, *n of them in one malloc'ed array; NULL: no memory. The interpreter itself is in it only where
 * nothing that it called ran.
 */
struct sampled_row *sampled_rows(const struct sampled *s, const struct natives *names, size_t *n);

/* Of a share that k of n samples have, 0..1. */
double sampled_error(uint64_t k, uint64_t n);

/* The Python functions with samples, most first; likewise. */
struct code **sampled_functions(const struct profile *p, size_t *n);

/* The same place in all processes: equal file, qualname and first line. */
struct sampled_place {
	const struct code *code; /* of one of them */
	struct sampled all;
};

/* Likewise, for sampled_places_free(). */
struct sampled_place *sampled_places(const struct profile *p, size_t *n);
void sampled_places_free(struct sampled_place *all, size_t n);
