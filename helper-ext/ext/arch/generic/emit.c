/* SPDX-License-Identifier: MIT */
/* emit.c - callbacks into rings, taken from emit_path.h. */
#include "ext/emit_path.h"

EMITTER(plain_offset, EMIT_OFFSET, true, lane_put)
EMITTER(plain_dest, EMIT_DEST, true, lane_put)
EMITTER(plain_backward, EMIT_BACKWARD, true, lane_put)
EMITTERS(emitters_software, plain_offset, plain_dest, plain_backward, plain_offset, lane_put);
