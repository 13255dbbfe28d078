/* SPDX-License-Identifier: MIT */
/* processor.c - see arch.h: no trace is known of, and ticks are nanoseconds. */
#include "ext/arch/arch.h"
#include "ext/processor.h"

void arch_look(struct processor *p)
{
	p->tsc_hz = 1000000000;
}
