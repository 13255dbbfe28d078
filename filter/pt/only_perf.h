/* SPDX-License-Identifier: MIT */
/*
 * only_perf.h - which recordings are perf's to read, and why: the one place that says so. All others are read by
 * ocular-pt, which is faster and needs no perf.
 */
#pragma once

#include <stdbool.h>

#include "pt_config.h"

/* What decides that is not in the perf.data: the code tables say so. */
struct only_perf_codes {
	bool emulated; /* some process wrote its words as branches: backend emulated */
	bool opcodes;  /* mode opcodes: branches are read by their packets, and perf does not tell what was lost */
};

/*
 * Why perf must read this recording, to go on a sentence that begins with "it"; NULL: ocular-pt knows all that perf
 * would tell. codes NULL: only what keeps ocular-pt from reading it at all.
 */
const char *only_perf(const struct pt_config *c, const struct only_perf_codes *codes);
