/* SPDX-License-Identifier: MIT */
/* recover_frames.h - the frames of a recovered thread, innermost last. */
#ifndef OCULAR_RECOVER_FRAMES_H
#define OCULAR_RECOVER_FRAMES_H

#include <stddef.h>

#include "recover_frame.h"

struct recover_frames {
	const struct dispatch *dispatch;
	struct undecided *undecided;
	struct recover_frame *frames;
	uint32_t n, room;
	uint32_t interpreter; /* of what runs now, and of frames that begin */
};

/* The innermost, NULL: none. Stays where it is until one is pushed. */
static inline struct recover_frame *recover_frames_top(const struct recover_frames *r)
{
	return r->n ? &r->frames[r->n - 1] : NULL;
}

/* A frame of the code, or of code that nothing told of (NULL), that is lost yet. NULL: no memory. */
struct recover_frame *recover_frames_push(struct recover_frames *r, struct code *code);

void recover_frames_pop(struct recover_frames *r);

/* The places of all are not known any more. */
void recover_frames_lose(struct recover_frames *r);

/*
 * The innermost frame of the code: those inside it end. If there is none it is pushed, if create says so;
 * NULL: no memory, or there is none and create is not set.
 */
struct recover_frame *recover_frames_align(struct recover_frames *r, struct code *code, bool create);

/*
 * Of this interpreter `open` frames are open from here on, and innermost, whatever it ran before. It is traced, or
 * what it runs now ends none of those below. -ENOMEM.
 */
int recover_frames_set(struct recover_frames *r, uint32_t interpreter, uint64_t open, bool traced);

void recover_frames_free(struct recover_frames *r);

#endif
