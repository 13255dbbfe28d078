/* SPDX-License-Identifier: MIT */
/* cold.h - marks a function that few samples call, to keep its code out of those that all samples call. */
#pragma once

#define COLD __attribute__((noinline, cold))
