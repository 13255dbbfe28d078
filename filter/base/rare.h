/* SPDX-License-Identifier: MIT */
/* rare.h - a function that is called for hardly any sample: kept out of those that are called for all. */
#ifndef OCULAR_RARE_H
#define OCULAR_RARE_H

#define RARE __attribute__((noinline, cold))

#endif
