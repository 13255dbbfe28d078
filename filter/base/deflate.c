// SPDX-License-Identifier: MIT
/*
 * Where six bytes were seen before, the latest place is tried, and nothing else: records repeat those shortly before
 * them, and a match ends where a record has a time or a count of its own. Places within a match are not looked at:
 * matches begin in the same places of each record. Shorter matches would lead to records of another kind.
 *
 * A block has TOKENS literals and matches, which are kept until its codes are known. One that would not become smaller
 * is stored.
 */
#include "deflate.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "huffman.h"

#define TOKENS	    32768u
#define HASH_BITS   12u
#define WINDOW	    32768u
#define SHORTEST    6u /* match */
#define LONGEST	    258u
#define STORED	    65535u /* bytes of a stored block at most */
#define LITERALS    286u   /* and lengths, and the block's end */
#define BLOCK_END   256u
#define DISTANCES   30u
#define LENGTHS	    256u /* of matches, from 3 on */
#define PRE_SYMBOLS 19u	 /* of the codes' own lengths */
#define PRE_LONGEST 7u

/* A literal is its byte; a match has this bit, its length from 3 on, and its distance from 1 on. */
#define MATCH		      (1u << 31)
#define LENGTH_SHIFT	      15u
#define MATCH_LENGTH(token)   ((token) >> LENGTH_SHIFT & 0xff)
#define MATCH_DISTANCE(token) ((token) & (WINDOW - 1))

/* Bits to be written, the first one the lowest. */
struct bits {
	uint32_t bits;
	uint8_t n;
};

struct deflate {
	uint16_t places[1 << HASH_BITS]; /* the lowest bits of the latest ones */
	uint32_t tokens[TOKENS], used;
	uint32_t literals[LITERALS], distances[DISTANCES]; /* how often they occur */
	uint8_t bits_of[LITERALS + DISTANCES];
	struct bits codes[LITERALS + DISTANCES];
	struct bits lengths[LENGTHS]; /* with their extra bits */
	uint8_t symbols[LENGTHS];     /* of lengths, from 257 on */
};

/* What is written. */
struct writer {
	char *to;
	uint64_t held;
	unsigned int n; /* bits held: less than 8 after flush() */
};

static inline void put(struct writer *w, struct bits b)
{
	w->held |= (uint64_t)b.bits << w->n;
	w->n += b.n;
}

/* The bytes that are full; there is room for eight. */
static inline void flush(struct writer *w)
{
	memcpy(w->to, &w->held, sizeof(w->held)); /* little endian, as the processors that this runs on */
	w->to += w->n / 8;
	w->held >>= w->n & ~7u;
	w->n &= 7;
}

static void put_bits(struct writer *w, uint32_t bits, unsigned int n)
{
	put(w, (struct bits){ bits, n });
	flush(w);
}

/* --- symbols of lengths and distances: RFC 1951, 3.2.5 ------------------------------------------------------- */

/* Numbers in pairs of ranges that double; `kept` highest bits tell the ranges of one size apart. */
static inline unsigned int extra_bits(uint32_t n, unsigned int kept)
{
	unsigned int size = 31 - __builtin_clz(n | 1);

	return size > kept ? size - kept : 0;
}

static inline unsigned int range_of(uint32_t n, unsigned int kept)
{
	unsigned int extra = extra_bits(n, kept);

	return (extra << kept) + (n >> extra);
}

static inline unsigned int distance_symbol(uint32_t distance)
{
	return range_of(distance, 1);
}

/* The longest one has a symbol of its own. */
static unsigned int length_symbol(unsigned int length)
{
	return length == LENGTHS - 1 ? 28 : range_of(length, 2);
}

static unsigned int length_extra(unsigned int length)
{
	return length == LENGTHS - 1 ? 0 : extra_bits(length, 2);
}

struct deflate *deflate_new(void)
{
	struct deflate *d = calloc(1, sizeof(*d));

	for (unsigned int i = 0; d && i < LENGTHS; i++)
		d->symbols[i] = length_symbol(i);
	return d;
}

void deflate_free(struct deflate *d)
{
	free(d);
}

/* --- a block's codes ------------------------------------------------------------------------------------------ */

static void make_codes(struct bits *codes, uint8_t *lengths, const uint32_t *counts, unsigned int symbols,
		       unsigned int longest)
{
	uint16_t bits[HUFFMAN_SYMBOLS];

	huffman_lengths(lengths, counts, symbols, longest);
	huffman_codes(bits, lengths, symbols);
	for (unsigned int i = 0; i < symbols; i++)
		codes[i] = (struct bits){ bits[i], lengths[i] };
}

static void choose_codes(struct deflate *d)
{
	d->literals[BLOCK_END] = 1;
	make_codes(d->codes, d->bits_of, d->literals, LITERALS, HUFFMAN_LONGEST);
	make_codes(d->codes + LITERALS, d->bits_of + LITERALS, d->distances, DISTANCES, HUFFMAN_LONGEST);
	for (unsigned int i = 0; i < LENGTHS; i++) {
		struct bits code = d->codes[257 + d->symbols[i]];
		unsigned int extra = length_extra(i);

		d->lengths[i] = (struct bits){ code.bits | (i & ((1u << extra) - 1)) << code.n, code.n + extra };
	}
}

/* The lengths of codes as they are written: 17 and 18 are runs of zeros, the rest is itself. */
struct lengths {
	struct {
		uint8_t symbol, extra, extra_bits;
	} of[LITERALS + DISTANCES];
	unsigned int n;
	uint32_t counts[PRE_SYMBOLS];
};

static void add_length(struct lengths *l, unsigned int symbol, unsigned int extra, unsigned int extra_bits)
{
	l->of[l->n].symbol = symbol;
	l->of[l->n].extra = extra;
	l->of[l->n++].extra_bits = extra_bits;
	l->counts[symbol]++;
}

static unsigned int zeros(const uint8_t *at, const uint8_t *end)
{
	unsigned int n = 0;

	while (at + n < end && n < 138 && !at[n])
		n++;
	return n;
}

static void collect_lengths(struct lengths *l, const uint8_t *at, const uint8_t *end)
{
	*l = (struct lengths){ .n = 0 };
	while (at < end) {
		unsigned int n = zeros(at, end);

		if (n >= 11)
			add_length(l, 18, n - 11, 7);
		else if (n >= 3)
			add_length(l, 17, n - 3, 3);
		else
			add_length(l, *at, 0, 0);
		at += n >= 3 ? n : 1;
	}
}

/* All of both kinds, however many of the last ones occur. */
static void put_lengths(struct writer *w, const struct lengths *l)
{
	static const uint8_t order[PRE_SYMBOLS] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[PRE_SYMBOLS];
	struct bits codes[PRE_SYMBOLS];

	make_codes(codes, lengths, l->counts, PRE_SYMBOLS, PRE_LONGEST);
	put_bits(w, (LITERALS - 257) | (DISTANCES - 1) << 5 | (PRE_SYMBOLS - 4) << 10, 14);
	for (unsigned int i = 0; i < PRE_SYMBOLS; i++)
		put_bits(w, lengths[order[i]], 3);
	for (unsigned int i = 0; i < l->n; i++) {
		put(w, codes[l->of[i].symbol]);
		put_bits(w, l->of[i].extra, l->of[i].extra_bits);
	}
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static void put_token(struct writer *w, const struct deflate *d, uint32_t token)
{
	uint32_t distance = MATCH_DISTANCE(token);
	unsigned int extra = extra_bits(distance, 1);

	put(w, d->lengths[MATCH_LENGTH(token)]);
	put(w, d->codes[LITERALS + distance_symbol(distance)]);
	put(w, (struct bits){ distance & ((1u << extra) - 1), extra });
}

static void put_tokens(struct writer *w, const struct deflate *d)
{
	struct writer at = *w;

	for (uint32_t i = 0; i < d->used; i++) {
		if (d->tokens[i] & MATCH)
			put_token(&at, d, d->tokens[i]);
		else
			put(&at, d->codes[d->tokens[i]]);
		flush(&at);
	}
	put(&at, d->codes[BLOCK_END]);
	flush(&at);
	*w = at;
}

/* At most: as if each length had 5 extra bits. */
static uint64_t coded_bytes(const struct deflate *d)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < LITERALS; i++)
		bits += (uint64_t)d->literals[i] * d->bits_of[i];
	for (unsigned int i = 0; i < DISTANCES; i++)
		bits += (uint64_t)d->distances[i] * (d->bits_of[LITERALS + i] + 5 + (i > 1 ? i / 2 - 1 : 0));
	return bits / 8 + 1;
}

/* If that takes less than `size` bytes. */
static bool put_coded(struct writer *w, const struct deflate *d, size_t size, bool last)
{
	struct writer before = *w;
	struct lengths l;

	collect_lengths(&l, d->bits_of, d->bits_of + sizeof(d->bits_of));
	put_bits(w, last | 2 << 1, 3);
	put_lengths(w, &l);
	if (w->to - before.to + coded_bytes(d) < size) {
		put_tokens(w, d);
		return true;
	}
	*w = before;
	return false;
}

/* The bits that are left of a byte are 0. */
static void align(struct writer *w)
{
	w->n = (w->n + 7) & ~7u;
	flush(w);
}

static void put_stored(struct writer *w, const char *from, size_t size, bool last)
{
	do {
		uint16_t n = size < STORED ? size : STORED;

		size -= n;
		put_bits(w, last && !size, 3);
		align(w);
		put_bits(w, n | (uint32_t)(uint16_t)~n << 16, 32);
		w->to = mempcpy(w->to, from, n);
		from += n;
	} while (size);
}

static void put_block(struct writer *w, struct deflate *d, const char *from, size_t size, bool last)
{
	choose_codes(d);
	if (!put_coded(w, d, size, last))
		put_stored(w, from, size, last);
	memset(d->literals, 0, sizeof(d->literals));
	memset(d->distances, 0, sizeof(d->distances));
	d->used = 0;
}

/* --- matches ------------------------------------------------------------------------------------------------------ */

static inline uint64_t load8(const char *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

/* Bytes from `at` on that are as those at `before`, of SHORTEST that are. */
static inline size_t same(const char *at, const char *before, const char *end)
{
	const char *from = at;
	size_t most = end - at < LONGEST ? end - at : LONGEST;

	for (; at + 8 <= from + most; at += 8, before += 8) {
		uint64_t differ = load8(at) ^ load8(before);

		if (differ)
			return at - from + __builtin_ctzll(differ) / 8;
	}
	while (at < from + most && *at == *before)
		at++, before++;
	return at - from;
}

static inline void add_literal(struct deflate *d, uint8_t byte)
{
	d->tokens[d->used++] = byte;
	d->literals[byte]++;
}

static inline void add_match(struct deflate *d, size_t length, uint32_t distance)
{
	d->tokens[d->used++] = MATCH | (uint32_t)(length - 3) << LENGTH_SHIFT | (distance - 1);
	d->literals[257 + d->symbols[length - 3]]++;
	d->distances[distance_symbol(distance - 1)]++;
}

/* How far back the latest place with these bytes is; 0: there is none. Places of other bytes are no harm. */
static inline uint32_t look_back(struct deflate *d, const char *from, const char *at)
{
	uint64_t bytes = load8(at) << 8 * (8 - SHORTEST);
	uint16_t *latest = &d->places[bytes * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS)];
	uint32_t place = at - from, distance = (uint16_t)(place - *latest);

	*latest = place;
	if (!distance || distance > WINDOW || distance > place)
		return 0;
	return load8(at - distance) << 8 * (8 - SHORTEST) == bytes ? distance : 0;
}

/* Until there is no room for more tokens, or nothing left; where that is. */
static const char *tokenize(struct deflate *d, const char *from, const char *at, const char *end)
{
	while (d->used < TOKENS && end - at >= 8) {
		uint32_t distance = look_back(d, from, at);
		size_t length = distance ? same(at, at - distance, end) : 1;

		if (distance)
			add_match(d, length, distance);
		else
			add_literal(d, *at);
		at += length;
	}
	while (d->used < TOKENS && at < end)
		add_literal(d, *at++);
	return at;
}

size_t deflate_zlib(struct deflate *d, char *to, const char *from, size_t size)
{
	const char *at = from, *end = from + size, *next;
	struct writer w = { .to = to };
	uint32_t sum = __builtin_bswap32(libdeflate_adler32(1, from, size));

	put_bits(&w, 0x0178, 16); /* 32 KB, the fastest level, and a check: in this order */
	memset(d->places, 0, sizeof(d->places));
	do {
		next = tokenize(d, from, at, end);
		put_block(&w, d, at, next - at, next == end);
		at = next;
	} while (at < end);
	align(&w);
	return (char *)mempcpy(w.to, &sum, sizeof(sum)) - to;
}
