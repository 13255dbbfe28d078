/* SPDX-License-Identifier: MIT */
/* emit.c - callbacks into rings, taken from emit_path.h. */
#include "ext/emit_path.h"

PUTS(lane_put)
EMITTER(plain_offset, EMIT_OFFSET, true, lane_put_none)
EMITTER(plain_dest, EMIT_DEST, true, lane_put_none)
EMITTER(plain_backward, EMIT_BACKWARD, true, lane_put_none)
EMITTERS(emitters_software, plain_offset, plain_dest, plain_backward, plain_offset, lane_put_none);
