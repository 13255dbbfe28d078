/* SPDX-License-Identifier: MIT */
/* sink_opcodes.h - opcodes, and which ran after which, for other programs: docs/exports.md. */
#pragma once

#include "model/sink.h"

/* For pstats.Stats: an opcode is a function, and the opcode before it is its caller. A sink_maker; uses path. */
int sink_opcode_pstats_open(struct sink **out, const struct sink_options *o, char *error);

/* For numpy.load(); likewise. */
int sink_opcode_arrays_open(struct sink **out, const struct sink_options *o, char *error);
