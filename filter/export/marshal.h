/* SPDX-License-Identifier: MIT */
/*
 * marshal.h - objects in the format of Python's `marshal` module, as much as pstats files need.
 *
 * A container is a head, then its elements; a dict's keys and values end in marshal_end_dict. Types and layout:
 * CPython, Python/marshal.c (TYPE_INT, TYPE_LONG, TYPE_BINARY_FLOAT, TYPE_UNICODE, TYPE_TUPLE, TYPE_DICT); no
 * references, so that any version from 2 on reads it. Errors stick to `out`.
 */
#pragma once

#include "base/out.h"

void marshal_int(struct out *o, uint64_t n);
void marshal_float(struct out *o, double d);

/* Bytes that are not UTF-8 become U+FFFD. */
void marshal_str(struct out *o, const char *s);

/* n elements follow. */
void marshal_tuple(struct out *o, uint32_t n);

void marshal_dict(struct out *o);
void marshal_end_dict(struct out *o);
