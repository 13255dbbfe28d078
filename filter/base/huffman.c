// SPDX-License-Identifier: MIT
/*
 * Symbols are sorted by their counts, so that a tree takes two queues: what is next is the first of the leaves or the
 * first of the nodes. Only how many codes there are of each length is kept of it: the rarest symbols get the longest.
 */
#include "huffman.h"

#include <string.h>

/* A count and its symbol in one number, in whose order they are. */
#define SYMBOL_BITS 9u
#define SYMBOL(key) ((key) & ((1u << SYMBOL_BITS) - 1))

struct tree {
	uint32_t keys[HUFFMAN_SYMBOLS]; /* of the leaves, the rarest first */
	unsigned int leaves, leaf, node, nodes;
	uint32_t weights[HUFFMAN_SYMBOLS];     /* of the nodes */
	uint16_t parents[2 * HUFFMAN_SYMBOLS]; /* of leaves, then of nodes: which node */
	uint16_t depths[HUFFMAN_SYMBOLS];      /* of the nodes */
	uint32_t lengths[HUFFMAN_LONGEST + 1]; /* how many codes have it */
};

/* Shell's: there are 30 to 200 of them. */
static void sort(uint32_t *keys, unsigned int n)
{
	static const unsigned int gaps[] = { 57, 23, 10, 4, 1 };

	for (const unsigned int *gap = gaps; gap < gaps + sizeof(gaps) / sizeof(*gaps); gap++)
		for (unsigned int i = *gap; i < n; i++) {
			uint32_t key = keys[i];
			unsigned int at = i;

			for (; at >= *gap && keys[at - *gap] > key; at -= *gap)
				keys[at] = keys[at - *gap];
			keys[at] = key;
		}
}

static void collect(struct tree *t, const uint32_t *counts, unsigned int symbols)
{
	t->leaves = t->leaf = t->node = t->nodes = 0;
	for (unsigned int i = 0; i < symbols; i++)
		if (counts[i])
			t->keys[t->leaves++] = counts[i] << SYMBOL_BITS | i;
	sort(t->keys, t->leaves);
}

/* The lightest that has no parent yet gets this one. */
static uint32_t adopt(struct tree *t, unsigned int parent)
{
	uint32_t leaf = t->leaf < t->leaves ? t->keys[t->leaf] >> SYMBOL_BITS : UINT32_MAX;

	if (t->node < t->nodes && t->weights[t->node] < leaf) {
		t->parents[t->leaves + t->node] = parent;
		return t->weights[t->node++];
	}
	t->parents[t->leaf++] = parent;
	return leaf;
}

static void grow(struct tree *t)
{
	while (t->nodes < t->leaves - 1) {
		uint32_t weight = adopt(t, t->nodes);

		t->weights[t->nodes] = weight + adopt(t, t->nodes);
		t->nodes++;
	}
}

/* From the root, which is the last node, down. */
static void count_lengths(struct tree *t, unsigned int longest)
{
	memset(t->lengths, 0, sizeof(t->lengths));
	t->depths[t->nodes - 1] = 0;
	for (unsigned int i = t->nodes - 1; i--;)
		t->depths[i] = t->depths[t->parents[t->leaves + i]] + 1;
	for (unsigned int i = 0; i < t->leaves; i++) {
		unsigned int depth = t->depths[t->parents[i]] + 1;

		t->lengths[depth < longest ? depth : longest]++;
	}
}

/*
 * Codes that were cut take too much of the code space. Each step moves one of them beside a shorter one, both one bit
 * longer than that was, which frees the space of one of the longest.
 */
static void limit(struct tree *t, unsigned int longest)
{
	uint32_t space = 0;

	for (unsigned int i = 1; i <= longest; i++)
		space += t->lengths[i] << (longest - i);
	for (; space > 1u << longest; space--) {
		unsigned int i = longest - 1;

		while (!t->lengths[i])
			i--;
		t->lengths[longest]--;
		t->lengths[i]--;
		t->lengths[i + 1] += 2;
	}
}

void huffman_lengths(uint8_t *lengths, const uint32_t *counts, unsigned int symbols, unsigned int longest)
{
	const uint32_t *key;
	struct tree t;

	memset(lengths, 0, symbols);
	collect(&t, counts, symbols);
	if (t.leaves < 2) {
		lengths[0] = 1;
		lengths[t.leaves && SYMBOL(t.keys[0]) ? SYMBOL(t.keys[0]) : 1] = 1;
		return;
	}
	grow(&t);
	count_lengths(&t, longest);
	limit(&t, longest);
	key = t.keys;
	for (unsigned int i = longest; i; i--)
		for (uint32_t n = t.lengths[i]; n; n--)
			lengths[SYMBOL(*key++)] = i;
}

static uint16_t reversed(uint16_t code, unsigned int bits)
{
	uint16_t to = 0;

	for (; bits; bits--, code >>= 1)
		to = to << 1 | (code & 1);
	return to;
}

void huffman_codes(uint16_t *codes, const uint8_t *lengths, unsigned int symbols)
{
	uint16_t counts[HUFFMAN_LONGEST + 1] = { 0 }, next[HUFFMAN_LONGEST + 1] = { 0 };

	for (unsigned int i = 0; i < symbols; i++)
		counts[lengths[i]] += lengths[i] > 0;
	for (unsigned int i = 1; i <= HUFFMAN_LONGEST; i++)
		next[i] = (next[i - 1] + counts[i - 1]) << 1;
	for (unsigned int i = 0; i < symbols; i++)
		codes[i] = lengths[i] ? reversed(next[lengths[i]]++, lengths[i]) : 0;
}
