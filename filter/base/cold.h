/* SPDX-License-Identifier: MIT */
/* cold.h - marks a function that few samples call, to keep its code out of those that all samples call. */
#ifndef OCULAR_COLD_H
#define OCULAR_COLD_H

#define COLD __attribute__((noinline, cold))

#endif
