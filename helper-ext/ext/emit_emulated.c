/* SPDX-License-Identifier: MIT */
/* emit_emulated.c - callbacks that end in 64 branches, for Intel PT without PTWRITE (arch/x86_64/ptwrite.h). */
#include "emit_path.h"

PUTS(lane_put_emulated)
EMITTER(plain_offset, EMIT_OFFSET, true, lane_put_emulated_none)
EMITTER(plain_dest, EMIT_DEST, true, lane_put_emulated_none)
EMITTER(plain_backward, EMIT_BACKWARD, true, lane_put_emulated_none)
EMITTERS(emitters_emulated, plain_offset, plain_dest, plain_backward, plain_offset, lane_put_emulated_none);
