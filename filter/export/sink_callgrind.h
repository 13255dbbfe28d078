/* SPDX-License-Identifier: MIT */
/* sink_callgrind.h - the profile for KCachegrind and callgrind_annotate. */
#ifndef OCULAR_SINK_CALLGRIND_H
#define OCULAR_SINK_CALLGRIND_H

#include "model/sink.h"

/* A sink_maker. */
int sink_callgrind_open(struct sink **out, const struct sink_options *o, char *error);

#endif
