/* SPDX-License-Identifier: MIT */
/*
 * dispatch_read.h - `dispatch` of a code table's header (docs/marker.md) -> struct dispatch.
 */
#pragma once

#include <jansson.h>

#include "dispatch.h"

/*
 * Adds the handlers in `o` to *d, which is allocated if it is NULL and o has any; free() it. After exec or a second
 * start the handlers may be elsewhere: the new places are added, if they are of the same CPython. *left is increased by
 * the handlers that found no room, or are of another CPython. 0 or -ENOMEM.
 */
int dispatch_read(struct dispatch **d, json_t *o, char *const names[256], uint64_t *left);
