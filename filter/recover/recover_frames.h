/* SPDX-License-Identifier: MIT */
/* recover_frames.h - the frames of a recovered thread, innermost last. */
#pragma once

#include <stddef.h>

#include "recover_frame.h"

struct recover_frames {
	const struct dispatch *dispatch;
	struct undecided *undecided;
	struct recover_frame *frames;
	uint32_t n, room;
	uint32_t interpreter; /* of the running one, and of frames that begin */
};

/* The innermost, NULL: none. Valid until one is pushed. */
static inline struct recover_frame *recover_frames_top(const struct recover_frames *r)
{
	return r->n ? &r->frames[r->n - 1] : NULL;
}

/* A frame of the code, or of unknown code (NULL), not placed yet. NULL: no memory. */
struct recover_frame *recover_frames_push(struct recover_frames *r, struct code *code);

void recover_frames_pop(struct recover_frames *r);

/* The places of all are no longer known. */
void recover_frames_lose(struct recover_frames *r);

/*
 * The innermost frame of the code: those inside it end. If there is none and `create` is set, it is pushed. NULL: no
 * memory, or there is none and create is not set.
 */
struct recover_frame *recover_frames_align(struct recover_frames *r, struct code *code, bool create);

/*
 * This interpreter has `open` innermost frames from here on, whatever it ran before. It is traced, or what it runs now
 * ends none of the frames below. -ENOMEM.
 */
int recover_frames_set(struct recover_frames *r, uint32_t interpreter, uint64_t open, bool traced);

void recover_frames_free(struct recover_frames *r);
