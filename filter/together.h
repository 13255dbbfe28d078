/* SPDX-License-Identifier: MIT */
/*
 * together.h - which recordings and outputs need all processes in one order of time, and why. The others are read by
 * several threads (front_workers.h). What shows only in the words is in model/profile_join.c, and in gather.c.
 */
#pragma once

#include "analysis.h"
#include "pt/pt_config.h"

/* For people: "an output shows single events"; NULL: they can be read apart. The analysis is open, nothing is read. */
const char *together_why(const struct analysis *a, const struct options *o, const struct pt_config *c);
