// SPDX-License-Identifier: MIT
/*
 * Recovery: branches and words become samples in the thread that decodes. Branches come in rows, most of which the fast
 * path of recover_quick.h takes at once; a word among them, or one that waits for its next, goes one by one.
 */
#include "front_ipt_parts.h"

#include "pipe.h"
#include "recover/recover_quick.h"

static int put_word(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = gather_word_of(&f->g, pid, tid, ns, cycles, bits);

	return gather_failed(&f->g, decode_word(&f->g.analysis->decoder, &w));
}

static int put_branch(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = gather_word_of(&f->g, pid, tid, ns, cycles, bits);

	return gather_failed(&f->g, analysis_branch(f->g.analysis, &w));
}

static int put_enter(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = gather_word_of(&f->g, pid, tid, ns, cycles, bits);

	return gather_failed(&f->g, recover_enter(&f->g.analysis->recover, &w));
}

static int put_row(struct front_ipt *f, int32_t pid, int32_t tid, const struct rows *rows, const struct row *row)
{
	static const pt_word_fn put[] = { [ROW_WORD] = put_word, [ROW_BRANCH] = put_branch, [ROW_ENTER] = put_enter };

	return put[row->kind](f, pid, tid, rows_ns(rows, row), rows_cycles(rows, row), row->ip);
}

/* Branches of a thread that is not recovered. */
static const struct row *skip_to_word(const struct row *row, const struct row *end)
{
	while (row < end && row->kind != ROW_WORD)
		row++;
	return row;
}

/* One by one, if a word waits for the next one. */
static int put_rows(void *front, int32_t pid, int32_t tid, const struct rows *rows)
{
	struct front_ipt *f = front;
	const struct row *row = rows->at, *end = row + rows->n;
	struct recover_thread *t;
	int err = 0;

	if (pid != f->g.pid)
		gather_change_process(&f->g, pid);
	f->g.analysis->recover.ticks = f->g.by_core ? NULL : &f->g.ticks;
	while (row < end && !err) {
		if (row->kind == ROW_WORD || f->g.analysis->decoder.holding) {
			err = put_row(f, pid, tid, rows, row++);
			continue;
		}
		t = recover_thread_at(&f->g.analysis->recover, pid, tid);
		if (!t)
			return gather_failed(&f->g, -ENOMEM);
		if (t->dispatch)
			err = gather_failed(&f->g, recover_rows(t, rows, &row));
		else
			row = skip_to_word(row, end);
	}
	return err;
}

static int put_overflow(void *front, int32_t pid, int32_t tid)
{
	struct front_ipt *f = front;
	int err = decode_settle(&f->g.analysis->decoder, pid, tid);

	return gather_failed(&f->g, err ? err : recover_gap(&f->g.analysis->recover, pid, tid));
}

static int put_gap(void *front, int32_t pid, int32_t tid)
{
	struct front_ipt *f = front;

	return gather_failed(&f->g, decode_gap(&f->g.analysis->decoder, pid, tid));
}

/* Samples are made in the pipe itself: copying them would cost twice as much as making them. */
int front_ipt_put_samples(struct recover *r)
{
	struct front_ipt *f = r->to;
	bool more = pipe_put_up_to(f->g.pipe, r->room);

	recover_give_room(r, pipe_room(f->g.pipe), pipe_end_of_room(f->g.pipe), front_ipt_put_samples);
	return more ? 0 : -ECANCELED;
}

/* One that was made elsewhere. */
static int put_copy(void *front, const struct sample *s)
{
	struct front_ipt *f = front;

	*f->g.analysis->recover.room = *s;
	return recover_made(&f->g.analysis->recover);
}

void front_ipt_send_to_pipe(struct front_ipt *f, struct recover *r)
{
	recover_redirect(r, put_copy, f);
	recover_give_room(r, pipe_room(f->g.pipe), pipe_end_of_room(f->g.pipe), front_ipt_put_samples);
}

int front_ipt_read_recovering(struct front_ipt *f)
{
	const struct pt_feed feed = { put_word, put_gap, put_branch, put_enter, put_overflow, put_rows, .to = f };

	return pt_trace_read(&f->trace, &feed);
}
