/* SPDX-License-Identifier: MIT */
/* emit_ptwrite.c - callbacks that end in PTWRITE, where those for rings read the time and store twice. */
#include "emit_path.h"

EMITTER(plain_offset, EMIT_OFFSET, true, lane_put_ptwrite)
EMITTER(plain_dest, EMIT_DEST, true, lane_put_ptwrite)
EMITTER(plain_backward, EMIT_BACKWARD, true, lane_put_ptwrite)
EMITTERS(emitters_ptwrite, plain_offset, plain_dest, plain_backward, plain_offset, lane_put_ptwrite);
