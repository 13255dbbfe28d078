/* SPDX-License-Identifier: MIT */
/*
 * named.h - the code objects that EXTENSION words name by their ids.
 *
 * The thread that makes samples looks them up: it alone adds to the code tables, while another one analyses.
 */
#pragma once

#include "code/codes.h"
#include "sample.h"

/* Sets s->named by its kind and payload, of a thread of process p; NULL: it names none. 0 or -ENOMEM. */
int named_find(struct codes *c, struct process *p, struct sample *s);
