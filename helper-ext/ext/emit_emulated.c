/* SPDX-License-Identifier: MIT */
/* emit_emulated.c - callbacks that end in 64 branches, for Intel PT without PTWRITE (ptwrite.h). */
#include "emit_path.h"

EMITTER(plain_offset, EMIT_OFFSET, true, lane_put_emulated)
EMITTERS(emitters_emulated, plain_offset, lane_put_emulated);
