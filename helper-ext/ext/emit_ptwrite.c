/* SPDX-License-Identifier: MIT */
/* emit_ptwrite.c - callbacks that end in PTWRITE: where emit.c takes the time and stores twice. */
#include "emit_path.h"

EMITTERS(emitters_ptwrite, lane_put_ptwrite);
