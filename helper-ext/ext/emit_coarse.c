/* SPDX-License-Identifier: MIT */
/* emit_coarse.c - callbacks into rings that read the time for one record of RING_COARSE (shared/ring.h). */
#include "emit_path.h"

PUTS(lane_put_coarse)
EMITTER(plain_offset, EMIT_OFFSET, true, lane_put_coarse_none)
EMITTER(plain_dest, EMIT_DEST, true, lane_put_coarse_none)
EMITTER(plain_backward, EMIT_BACKWARD, true, lane_put_coarse_none)
EMITTERS(emitters_coarse, plain_offset, plain_dest, plain_backward, plain_offset, lane_put_coarse_none);
