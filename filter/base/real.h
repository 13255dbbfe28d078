/* SPDX-License-Identifier: MIT */
/* real.h - a real number with nine significant digits, as JSON has it: "0.5", "3.0", "1e-7". */
#pragma once

#define REAL_DIGITS 9  /* shares and means are not known more exactly */
#define REAL_ROOM   24 /* bytes at most */

/* Writes a finite number at `to` and returns its end; not terminated. Rounded to even, as printf does. */
char *real_put(char *to, double n);
