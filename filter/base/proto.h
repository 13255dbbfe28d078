/* SPDX-License-Identifier: MIT */
/*
 * proto.h - protobuf's wire format, the part that a writer needs (protobuf.dev/programming-guides/encoding).
 *
 * All write at `to`, where the caller has room, and return the end.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define PROTO_VARINT 10 /* bytes of a varint at most */

static inline char *proto_varint(char *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*to++ = (char)(n | 0x80);
	*to++ = (char)n;
	return to;
}

/* What comes before a field, of wire type `type`; without a loop, as compilers know both. field: less than 2048. */
static inline char *proto_tag(char *to, unsigned field, unsigned type)
{
	unsigned tag = field << 3 | type;

	*to = (char)(tag < 0x80 ? tag : tag | 0x80);
	if (tag < 0x80)
		return to + 1;
	to[1] = (char)(tag >> 7);
	return to + 2;
}

/* A field that is a number: uint64, int64, bool, enum. */
static inline char *proto_number(char *to, unsigned field, uint64_t n)
{
	return proto_varint(proto_tag(to, field, 0), n);
}

/*
 * The same of numbers that are mostly less than 2^28 and have different lengths, which no branch foretells. Writes up
 * to three bytes behind the end.
 */
static inline char *proto_small(char *to, unsigned field, uint64_t n)
{
	unsigned bytes = (38 - __builtin_clz((uint32_t)n | 1)) * 37 >> 8; /* bits / 7, rounded up */
	uint32_t halves = (n & 0x3fff) | (n & 0xfffc000) << 2;
	uint32_t groups = (halves & 0x7f007f) | (halves & 0x3f803f80) << 1;

	to = proto_tag(to, field, 0);
	if (n >> 28)
		return proto_varint(to, n);
	groups |= 0x808080 >> (32 - 8 * bytes); /* all but the last one are followed by another */
	memcpy(to, &groups, sizeof(groups));	/* little endian, as the processors that this runs on */
	return to + bytes;
}

static inline char *proto_double(char *to, unsigned field, double n)
{
	to = proto_tag(to, field, 1);
	memcpy(to, &n, sizeof(n)); /* little endian, as the processors that this runs on */
	return to + sizeof(n);
}

static inline char *proto_string(char *to, unsigned field, const char *s, size_t length)
{
	to = proto_varint(proto_tag(to, field, 2), length);
	return mempcpy(to, s, length);
}

/*
 * A field that is a message: its content is written between open and close. Needs room for 9 bytes more than the
 * content: one byte is reserved for its length, which is nearly always enough.
 */
static inline char *proto_open(char *to, unsigned field)
{
	return proto_tag(to, field, 2) + 1;
}

static inline char *proto_close(char *body, char *to)
{
	size_t length = to - body, more = 0;

	if (length < 0x80) {
		body[-1] = (char)length;
		return to;
	}
	for (size_t rest = length; rest >= 0x80; rest >>= 7)
		more++;
	memmove(body + more, body, length);
	proto_varint(body - 1, length);
	return to + more;
}

/* The same of less than 128 bytes. */
static inline char *proto_close_short(char *body, char *to)
{
	body[-1] = (char)(to - body);
	return to;
}
