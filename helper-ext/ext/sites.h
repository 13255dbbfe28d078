/* SPDX-License-Identifier: MIT */
/*
 * sites.h - where a handler dispatches its own instruction a second time.
 *
 * An instruction that the interpreter specializes (PEP 659) is dispatched twice: handler, call of _Py_Specialize_X,
 * handler of what it has become. The macro DISPATCH_SAME_OPARG does it: after the call the opcode byte is loaded, but
 * not the argument beside it, and then comes the indirect jump. A trace has the return address of that call as target
 * of a TIP or TIP.PGE: the next dispatch is not a new instruction.
 */
#pragma once

#include "image.h"

/* Return addresses of such calls in the code, ascending, at most `room`. Returns how many. */
size_t sites_find(const struct range *code, uint64_t *sites, size_t room);

/* Is an instruction dispatched in the code: opcode and argument loaded at once, then the indirect jump? */
bool sites_dispatches(const struct range *code);
