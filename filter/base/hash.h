/* SPDX-License-Identifier: MIT */
/* hash.h - FNV-1a with 64 bits (draft-eastlake-fnv) of texts, as keys of a map: equal keys are not yet equal texts. */
#pragma once

#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/* Of what had the hash `start`, and the text behind it. */
static inline uint64_t hash_text(uint64_t start, const char *text)
{
	for (; *text; text++)
		start = (start ^ (uint8_t)*text) * 0x100000001b3u;
	return start;
}
