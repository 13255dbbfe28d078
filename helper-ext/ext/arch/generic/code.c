/* SPDX-License-Identifier: MIT */
/* code.c - nothing is known of this processor's machine code: mode opcodes has no handlers to find. */
#include "ext/sites.h"
#include "ext/tails.h"

size_t sites_find(const struct range *code, uint64_t *sites, size_t room)
{
	(void)code, (void)sites, (void)room;
	return 0;
}

bool sites_dispatches(const struct range *code)
{
	(void)code;
	return false;
}

bool tails_next(const struct image *image, const struct range *code, enum tails_by by, uint64_t *at,
		struct range *function)
{
	(void)image, (void)code, (void)by, (void)at, (void)function;
	return false;
}
