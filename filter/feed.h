/* SPDX-License-Identifier: MIT */
/*
 * feed.h - the events text as a front end, the third one: it needs nothing but struct sample.
 */
#pragma once

#include <stdio.h>

#include "code/codes.h"
#include "model/decode.h"

/*
 * A whole events text. 0; -EPROTO: not an events text, or a newer version; -EINVAL: a line is invalid; both with one
 * line in error[size].
 */
int feed_file(FILE *f, struct codes *codes, sample_fn feed, void *to, char *error, size_t size);
