// SPDX-License-Identifier: MIT
/* If a frame ends without a known place, its undecided steps are given up. */
#include "recover_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

static bool set_code(struct recover_frames *r, struct recover_frame *f, struct code *code)
{
	if (code && !code->walk && !(code->walk = walk_new(code, r->dispatch)))
		return false;
	f->code = code;
	f->walk = code ? code->walk : NULL;
	f->kind = FRAME_BEGAN;
	return true;
}

struct recover_frame *recover_frames_push(struct recover_frames *r, struct code *code)
{
	struct recover_frame *f;

	if (!ARRAY_ROOM(r->frames, r->n, r->room) || !set_code(r, &r->frames[r->n], code))
		return NULL;
	f = &r->frames[r->n++];
	f->interpreter = r->interpreter;
	f->step = UNDECIDED_NONE;
	f->n = 0;
	f->side = SIDE_BOTH;
	f->follows = f->arrives = false;
	f->last = 0;
	f->ran = 0;
	return f;
}

void recover_frames_pop(struct recover_frames *r)
{
	struct recover_frame *f = recover_frames_top(r);

	if (f->n != 1)
		recover_frame_lose(f, r->undecided);
	r->n--;
	if (r->n)
		r->interpreter = recover_frames_top(r)->interpreter;
}

void recover_frames_lose(struct recover_frames *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		recover_frame_lose(&r->frames[i], r->undecided);
}

static bool has(const struct recover_frames *r, const struct code *code)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->frames[i].code == code)
			return true;
	return false;
}

struct recover_frame *recover_frames_align(struct recover_frames *r, struct code *code, bool create)
{
	struct recover_frame *f = recover_frames_top(r);

	if (f && f->code == code)
		return f;
	if (f && f->kind == FRAME_OPEN)
		return set_code(r, f, code) ? f : NULL;
	if (has(r, code)) {
		while (recover_frames_top(r)->code != code)
			recover_frames_pop(r);
		return recover_frames_top(r);
	}
	return create ? recover_frames_push(r, code) : NULL;
}

/* Frames without a marker ran before it was traced, and may have ended by exceptions without a marker. */
static bool is_over(const struct recover_frame *f, uint32_t interpreter)
{
	return f && (f->interpreter == interpreter || (!f->code && f->kind == FRAME_BEGAN));
}

int recover_frames_set(struct recover_frames *r, uint32_t interpreter, uint64_t open, bool traced)
{
	while (is_over(recover_frames_top(r), interpreter))
		recover_frames_pop(r);
	if (open)
		r->interpreter = interpreter;
	if (open && !traced)
		open = 1;
	for (; open; open--) {
		if (!recover_frames_push(r, NULL))
			return -ENOMEM;
		recover_frames_top(r)->kind = traced ? FRAME_OPEN : FRAME_UNTRACED;
	}
	return 0;
}

void recover_frames_free(struct recover_frames *r)
{
	free(r->frames);
}
