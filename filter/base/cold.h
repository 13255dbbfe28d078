/* SPDX-License-Identifier: MIT */
/* cold.h - a function that is called for hardly any sample: kept out of those that are called for all. */
#ifndef OCULAR_COLD_H
#define OCULAR_COLD_H

#define COLD __attribute__((noinline, cold))

#endif
