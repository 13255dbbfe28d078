// SPDX-License-Identifier: MIT
/* Words of the packets are gathered. Taking a part at a time is the same, for a reader that waits for more. */
#include "front_ipt_parts.h"

#include <stdlib.h>

static int add_words(void *front, int32_t pid, int32_t tid, uint32_t n)
{
	struct front_ipt *f = front;

	return gather_run(&f->g, pid, tid, n, RUN_WORDS);
}

static int add_word(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;

	return gather_word(&f->g, &(struct word){ pid, tid, ns, cycles, bits }, RUN_WORDS);
}

static int add_cpu(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;

	return gather_word(&f->g, &(struct word){ pid, tid, ns, cycles, bits }, RUN_CPU);
}

static int add_gap(void *front, int32_t pid, int32_t tid)
{
	struct front_ipt *f = front;

	return gather_run(&f->g, pid, tid, 0, RUN_GAP);
}

/* --- from the whole trace ------------------------------------------------------------------------------------ */

static struct pt_feed word_feed(struct front_ipt *f)
{
	return (struct pt_feed){
		add_word, add_gap, .words = add_words, .room = &f->g.room, .cpu = f->as_perf ? NULL : add_cpu, .to = f
	};
}

/* What is left goes with the pipe's end; without a pipe it is taken here, even before a failure. */
int front_ipt_read_words(struct front_ipt *f)
{
	const struct pt_feed feed = word_feed(f);
	int err = pt_trace_read(&f->trace, &feed), last;

	if (f->g.pipe || f->g.err)
		return err;
	last = gather_pass_on(&f->g);
	return err ?: last;
}

int front_ipt_read_alone(struct front_ipt *f)
{
	int err;

	f->g.room = calloc(1, sizeof(*f->g.room));
	err = f->g.room ? front_ipt_read_words(f) ?: gather_end(&f->g) : -ENOMEM;
	free(f->g.room);
	f->g.room = NULL;
	return f->g.err ? f->g.err : err;
}

/* --- for a reader that takes a part at a time --------------------------------------------------------------- */

int front_ipt_begin(struct front_ipt *f, struct analysis *a, struct pt_feed *feed)
{
	f->g.analysis = a;
	f->g.room = calloc(1, sizeof(*f->g.room));
	*feed = word_feed(f);
	return f->g.room ? 0 : -ENOMEM;
}

int front_ipt_pass(struct front_ipt *f)
{
	return gather_pass_on(&f->g) ? f->g.err : 0;
}

void front_ipt_end(struct front_ipt *f)
{
	free(f->g.room);
	f->g.room = NULL;
}
