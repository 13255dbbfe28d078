/* SPDX-License-Identifier: MIT */
/* emit_emulated.c - callbacks that end in 64 branches, for Intel PT without PTWRITE (ptwrite.h). */
#include "emit_path.h"

EMITTERS(emitters_emulated, lane_put_emulated);
