/* SPDX-License-Identifier: MIT */
/*
 * dispatch_read.h - `dispatch` of a code table's header (docs/marker.md) -> struct dispatch.
 */
#ifndef OCULAR_DISPATCH_READ_H
#define OCULAR_DISPATCH_READ_H

#include <jansson.h>

#include "dispatch.h"

/*
 * Adds what `o` says of handlers to *d, which is made if it is NULL and o says anything; free() it. After exec or a
 * second start the handlers may be elsewhere: those places come to the others, if they are of the same CPython.
 * *left: plus the handlers that found no room, or are of another CPython. 0 or -ENOMEM.
 */
int dispatch_read(struct dispatch **d, json_t *o, char *const names[256], uint64_t *left);

#endif
