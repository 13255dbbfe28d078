/* SPDX-License-Identifier: MIT */
/* foreign.c - a library that executes PTWRITE for its own ends, for programs that Ocular traces. */
#include <stdint.h>

void foreign(uint64_t word);
void foreign(uint64_t word)
{
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a"(word)); /* ptwrite %rax */
}
