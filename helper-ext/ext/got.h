/* SPDX-License-Identifier: MIT */
/*
 * got.h - calls that leave an object, by its global offset table.
 *
 * A program or a shared object calls others through words of its own that hold their addresses: one for each function,
 * written by the dynamic linker. Whoever writes another address there sees these calls, and nobody else's. No
 * instruction is changed; a call under way is not disturbed, because a word is replaced at once.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct got_call {
	const char *name; /* as the dynamic linker knows it, without a version */
	void *to;	  /* called instead */
};

/* The words that were replaced; zeroed: none. */
struct got {
	struct got_slot {
		void **at;
		void *was, *is;
	} * slots;
	size_t n, room;
};

typedef bool (*got_wanted)(const struct dl_phdr_info *object);

/*
 * Replaces the calls of all objects that are loaded and wanted(), but for the first `skipped` in the order in which
 * they were loaded. Words that were replaced before stay as they are, so it may be called again when there are new
 * objects. Returns how many words are replaced now, or a negative errno: of the first that could not be; some others
 * were.
 */
int got_take(struct got *g, const struct got_call *calls, size_t n, got_wanted wanted, size_t skipped);

/* The same of one word in a loaded object's data. 0, or a negative errno; -ENOENT: no object could write there. */
int got_take_at(struct got *g, void **at, void *to);

/* Is that address in one of the object's segments? */
bool got_has(const struct dl_phdr_info *object, uintptr_t address);

/* Gives back what is still ours, in objects that are still loaded. */
void got_give_back(struct got *g);
