/* SPDX-License-Identifier: MIT */
/*
 * huffman.h - Huffman codes as deflate has them (RFC 1951, 3.2.2): known by their lengths, none longer than a limit.
 */
#pragma once

#include <stdint.h>

#define HUFFMAN_SYMBOLS 288u /* at most */
#define HUFFMAN_LONGEST 15u  /* bits of a code at most */

/*
 * Bits of each symbol's code for `counts`, which add up to less than 2^22: 0 of one that does not occur. No code is
 * longer than `longest`, for which there are not too many symbols. There are always two codes or more, as decoders want
 * a complete set; they may be those of symbols 0 and 1.
 */
void huffman_lengths(uint8_t *lengths, const uint32_t *counts, unsigned int symbols, unsigned int longest);

/* The codes of these lengths, their first bit the lowest, as they are written. */
void huffman_codes(uint16_t *codes, const uint8_t *lengths, unsigned int symbols);
