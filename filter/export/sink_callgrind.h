/* SPDX-License-Identifier: MIT */
/* sink_callgrind.h - the profile for KCachegrind and callgrind_annotate. */
#pragma once

#include "model/sink.h"

/* A sink_maker. */
int sink_callgrind_open(struct sink **out, const struct sink_options *o, char *error);
