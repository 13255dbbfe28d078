// SPDX-License-Identifier: MIT
/*
 * A stream is one thread's stream of words. In the common case a word continues the sequence and becomes a sample at
 * once. Any other word is held (`held`): if the word after it continues from the held one, words were lost before it;
 * if it continues as though the held one did not exist, the held one is another program's PTWRITE.
 *
 * A NUMBERED word is replaced by the event word that it stands for before anything else looks at it. If that word was
 * lost, the NUMBERED one stays as it is and counts as lost.
 */
#include "decode.h"
#include "named.h"
#include "word_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/marker.h"
#include "base/cold.h"

/* So that the first numbers, of one chunk, find room at once. */
#define NUMBERS_AHEAD 256u

void decode_init(struct decoder *d, struct codes *codes, sample_fn feed, const struct quick_feed *quick, void *to)
{
	*d = (struct decoder){ .codes = codes, .feed = feed, .quick = quick, .to = to };
}

static struct word_stream *make_stream(struct decoder *d, int32_t pid, uint64_t key)
{
	struct process *p = codes_process(d->codes, pid);
	struct word_stream *l = p ? map_add(&d->streams, key, sizeof(*l)) : NULL;

	if (!l) {
		snprintf(d->error, sizeof(d->error), "%s", p ? "no memory" : d->codes->error);
		return NULL;
	}
	l->process = p;
	l->version = p->markers;
	return l;
}

static COLD struct word_stream *other_stream(struct decoder *d, int32_t pid, uint64_t key)
{
	d->last_key = key;
	d->last = map_get(&d->streams, key);
	if (!d->last)
		d->last = make_stream(d, pid, key);
	return d->last;
}

static inline struct word_stream *stream_of(struct decoder *d, int32_t pid, int32_t tid)
{
	uint64_t key = map_pair(pid, tid);

	return d->last && d->last_key == key ? d->last : other_stream(d, pid, key);
}

/* A sample without a code object. */
static void make_bare(struct decoder *d, const struct word_stream *l, const struct word *w, unsigned op, uint64_t count)
{
	d->made = (struct sample){
		.op = op,
		.pid = w->pid,
		.tid = w->tid,
		.interpreter = l->interpreter,
		.time = w->time,
		.cycles = w->cycles,
		.target = SAMPLE_NOWHERE,
		.count = count,
	};
}

static int feed_bare(struct decoder *d, const struct word_stream *l, const struct word *w, unsigned op, uint64_t count)
{
	make_bare(d, l, w, op, count);
	return d->feed(d->to, &d->made);
}

static int no_memory(struct decoder *d)
{
	snprintf(d->error, sizeof(d->error), "no memory for code objects");
	return -ENOMEM;
}

/*
 * more: the sample's callee or address, if its op has one. Member by member: what is stored in pieces of another size
 * than it is read in is read only when all of it has left the processor's store buffer.
 */
static inline int feed_code(struct decoder *d, const struct word_stream *l, const struct word *w, enum marker_op op,
			    struct code *code, int64_t offset, int64_t target, uint64_t more)
{
	struct sample *s = &d->made;

	s->op = op;
	s->kind = 0;
	s->before = 0;
	s->passed = false;
	s->pid = w->pid;
	s->tid = w->tid;
	s->interpreter = l->interpreter;
	s->time = w->time;
	s->cycles = w->cycles;
	s->code = code;
	s->offset = op == OP_LINE ? offset : offset * 2;
	s->target = op >= OP_JUMP && op <= OP_BRANCH_RIGHT ? target * 2 : SAMPLE_NOWHERE;
	s->count = more;
	return d->feed(d->to, s);
}

static inline uint64_t object_of(const struct word_stream *l, enum marker_op op)
{
	return op == OP_PY_RESUME || op == OP_PY_YIELD || op == OP_PY_THROW ? l->object : 0;
}

static void forget_prefixes(struct word_stream *l)
{
	l->wide = l->number = l->numbered_callee = l->callee = 0;
	l->prefixed = false;
}

/* Words are missing, or the thread begins anew. */
static void forget(struct word_stream *l)
{
	forget_prefixes(l);
	l->object = 0;
}

/* Room for the number, and for as many again as there are: they come in order. */
static int numbers_grow(struct numbers *n, uint32_t number)
{
	uint32_t size = number + NUMBERS_AHEAD < 2 * n->n ? 2 * n->n : number + NUMBERS_AHEAD;
	struct numbered *all;

	size = size < MARKER_NUMBER_MAX ? size : MARKER_NUMBER_MAX + 1;
	all = calloc(size, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (n->n)
		memcpy(all, n->all, n->n * sizeof(*all));
	free(n->all);
	*n = (struct numbers){ all, size };
	return 0;
}

static int numbers_put(struct numbers *n, const struct process *p, uint32_t number, uint64_t word)
{
	if (number >= n->n && numbers_grow(n, number))
		return -ENOMEM;
	n->all[number].word = word & ~((uint64_t)MARKER_SEQ_MASK << MARKER_SEQ_SHIFT);
	n->all[number].op = marker_op(word);
	n->all[number].code = marker_is_event(word) ? codes_own(p, marker_code(word)) : NULL;
	return 0;
}

static void numbers_free(struct numbers *n)
{
	free(n->all);
	*n = (struct numbers){ 0 };
}

/* An event word with a WIDE prefix takes no number. With what its number's CALL calls it is a C_CALL. */
static uint64_t numbered_word(const struct word_stream *l, uint64_t bits)
{
	return l->wide ? 0 : marker_c_call_of(bits, l->numbered_callee) ?: bits;
}

static int take_prefixes(struct decoder *d, struct word_stream *l, const struct word *w, int64_t *offset,
			 int64_t *target, uint64_t *more)
{
	uint64_t word = l->number ? numbered_word(l, w->bits) : 0;
	uint32_t number = l->number, callee = l->callee ?: l->numbered_callee;

	if (callee && marker_op(w->bits) == OP_CALL &&
	    !(*more = (uintptr_t)codes_find_or_make(d->codes, l->process, callee)))
		return no_memory(d);
	if (l->wide) {
		*offset |= marker_wide_offset(l->wide);
		*target = marker_wide_dest(l->wide);
	}
	forget_prefixes(l);
	return word && numbers_put(&l->numbers, l->process, number, word) ? no_memory(d) : 0;
}

static int feed_event(struct decoder *d, struct word_stream *l, const struct word *w)
{
	struct code *code = codes_find_or_make(d->codes, l->process, marker_code(w->bits));
	int64_t offset = marker_offset(w->bits), target = offset + marker_dist(w->bits);
	uint64_t more = object_of(l, marker_op(w->bits));

	if (!code)
		return no_memory(d);
	if (l->prefixed && take_prefixes(d, l, w, &offset, &target, &more))
		return -ENOMEM;
	return feed_code(d, l, w, marker_op(w->bits), code, offset, target, more);
}

/* A CALL with its callee, in one word. */
static int feed_c_call(struct decoder *d, struct word_stream *l, const struct word *w)
{
	struct code *code = codes_find_or_make(d->codes, l->process, marker_c_caller(w->bits));
	struct code *callee = codes_find_or_make(d->codes, l->process, marker_c_callee(w->bits));

	forget_prefixes(l);
	if (!code || !callee)
		return no_memory(d);
	return feed_code(d, l, w, OP_CALL, code, marker_c_offset(w->bits), 0, (uintptr_t)callee);
}

static int feed_hello(struct decoder *d, struct word_stream *l, const struct word *w)
{
	unsigned version = w->bits & 0xff;

	if (version > MARKER_VERSION) {
		snprintf(d->error, sizeof(d->error),
			 "cannot read markers of version %u, this Ocular knows up to %u; use a newer Ocular", version,
			 MARKER_VERSION);
		return -EPROTO;
	}
	l->greeted = true;
	l->version = version;
	l->interpreter = marker_offset(w->bits);
	return 0;
}

static int feed_wide(struct decoder *d, struct word_stream *l, const struct word *w)
{
	(void)d;
	l->wide = w->bits;
	l->prefixed = true;
	return 0;
}

static int feed_kind(struct decoder *d, const struct word_stream *l, const struct word *w, enum marker_kind kind,
		     uint64_t payload)
{
	make_bare(d, l, w, OP_EXTENSION, payload);
	d->made.kind = kind;
	if (named_find(d->codes, l->process, &d->made))
		return no_memory(d);
	return d->feed(d->to, &d->made);
}

/* Such words the recorder writes, not the process. */
static bool is_added(enum marker_kind kind)
{
	return kind == KIND_CPU || kind == KIND_NATIVE || kind == KIND_NUMBER;
}

/* Other kinds than these are passed on and counted. */
static int feed_extension(struct decoder *d, struct word_stream *l, const struct word *w)
{
	l->process->added += is_added(marker_kind(w->bits));
	switch (marker_kind(w->bits)) {
	case KIND_C_CALL:
		if (marker_c_caller(w->bits) && marker_c_callee(w->bits))
			return feed_c_call(d, l, w);
		break;
	case KIND_OBJECT:
		l->object = marker_payload(w->bits);
		return 0;
	case KIND_NUMBER:
		l->number = marker_number(w->bits);
		l->numbered_callee = marker_numbered_callee(w->bits);
		l->prefixed = true;
		return 0;
	case KIND_CALLEE:
		l->callee = w->bits & MARKER_CODE_MAX;
		l->prefixed = true;
		return 0;
	default:
		break;
	}
	return feed_kind(d, l, w, marker_kind(w->bits), marker_payload(w->bits));
}

/* The word that defined this number was lost, so this one is, too. */
static int feed_unknown_number(struct decoder *d, struct word_stream *l, const struct word *w)
{
	l->process->received--;
	l->process->missing++;
	return feed_bare(d, l, w, SAMPLE_GAP, 1);
}

static int feed_lost(struct decoder *d, struct word_stream *l, const struct word *w)
{
	uint64_t count = marker_lost_count(w->bits);

	l->next = (l->next + count) & MARKER_SEQ_MASK;
	l->process->missing += count;
	forget(l);
	return feed_bare(d, l, w, SAMPLE_GAP, count);
}

/* For recovery only. */
static int feed_frames(struct decoder *d, struct word_stream *l, const struct word *w)
{
	if (!l->process->dispatch)
		return 0;
	make_bare(d, l, w, OP_FRAMES, marker_offset(w->bits));
	d->made.traced = w->bits & 1;
	return d->feed(d->to, &d->made);
}

/* A segment begins or ends: the sequence continues from here, whatever it was before. */
static int accept_snapshot(struct decoder *d, struct word_stream *l, const struct word *w)
{
	make_bare(d, l, w, OP_SNAPSHOT, marker_offset(w->bits));
	d->made.window = l->process->duty.period_ns != 0;
	d->made.ends = w->bits & 1;
	l->open = true;
	l->gap = false;
	forget(l);
	l->process->received++;
	l->next = (marker_seq(w->bits) + 1) & MARKER_SEQ_MASK;
	return d->feed(d->to, &d->made);
}

/* The word is ours and in its place. */
static int accept(struct decoder *d, struct word_stream *l, const struct word *w)
{
	static int (*const others[OP_COUNT])(struct decoder *, struct word_stream *, const struct word *) = {
		[OP_HELLO] = feed_hello,   [OP_LOST] = feed_lost,	    [OP_WIDE] = feed_wide,
		[OP_FRAMES] = feed_frames, [OP_EXTENSION] = feed_extension, [OP_NUMBERED] = feed_unknown_number,
	};

	l->open = true;
	l->gap = false;
	l->process->received++;
	l->next = (marker_seq(w->bits) + 1) & MARKER_SEQ_MASK;
	return marker_is_event(w->bits) ? feed_event(d, l, w) : others[marker_op(w->bits)](d, l, w);
}

/* The word is ours, but words before it are missing. */
static int accept_after_gap(struct decoder *d, struct word_stream *l, const struct word *w)
{
	uint64_t missing = (marker_seq(w->bits) - l->next) & MARKER_SEQ_MASK;
	int err;

	forget(l);
	/*
	 * A gap that the front end saw, of no word or a multiple of 128: the sequence cannot show it, so one is
	 * reported.
	 */
	missing += !missing;
	l->process->missing += missing;
	err = feed_bare(d, l, w, SAMPLE_GAP, missing);
	return err ? err : accept(d, l, w);
}

/*
 * exec, or a second start: the sequence begins again with a HELLO. Nothing is missing, but nothing before it is open
 * any more either. If the old sequence is just at 0, the interpreter decides: within a run a HELLO comes only when it
 * changes.
 */
static bool is_restart(const struct word_stream *l, uint64_t bits)
{
	if (!l->greeted || !marker_is_hello(bits) || marker_seq(bits))
		return false;
	return l->next != 0 || marker_offset(bits) == l->interpreter;
}

static int accept_restart(struct decoder *d, struct word_stream *l, const struct word *w)
{
	int err = feed_bare(d, l, w, SAMPLE_RESTART, 1);

	forget(l);
	numbers_free(&l->numbers);
	return err ? err : accept(d, l, w);
}

static bool is_known_code(struct decoder *d, const struct word_stream *l, uint64_t bits)
{
	const struct code *code = codes_find(d->codes, l->process, marker_code(bits));

	if (!code)
		return false;
	return marker_op(bits) == OP_LINE || !code->units || marker_offset(bits) < code->units ||
	       marker_offset(bits) == MARKER_OFFSET_MAX;
}

/* Is this a word that only version 2 has? */
static bool is_later(const struct word_stream *l, uint64_t bits)
{
	return l->version >= MARKER_EXTENSIONS && (marker_is_extension(bits) || marker_is_numbered(bits));
}

/* A C_CALL between codes that are in the table is one of those that need no word before them. */
static bool is_known_call(struct decoder *d, const struct word_stream *l, uint64_t bits)
{
	const struct code *code = codes_find(d->codes, l->process, marker_c_caller(bits));

	return marker_kind(bits) == KIND_C_CALL && code && (!code->units || marker_c_offset(bits) < code->units) &&
	       codes_find(d->codes, l->process, marker_c_callee(bits));
}

/* Could these bits be ours, apart from the sequence? */
static bool is_plausible(struct decoder *d, const struct word_stream *l, uint64_t bits)
{
	if (marker_op(bits) == OP_HELLO)
		return marker_is_hello(bits);
	if (marker_is_event(bits))
		return is_known_code(d, l, bits);
	if (marker_is_frames(bits) || is_later(l, bits))
		return l->open || marker_is_cpu(bits) || is_known_call(d, l, bits);
	return (marker_op(bits) == OP_LOST || marker_op(bits) == OP_WIDE) && l->open;
}

/* A word that continues the sequence needs no more proof (its code line may be missing). */
static bool is_next(const struct word_stream *l, uint64_t bits)
{
	enum marker_op op = marker_op(bits);

	if (!l->open || l->gap || marker_seq(bits) != l->next)
		return false;
	if (op == OP_HELLO)
		return marker_is_hello(bits);
	if (op == OP_FRAMES)
		return marker_is_frames(bits);
	if (is_later(l, bits))
		return true;
	return op >= OP_LOST && op <= OP_EVENT_LAST && (marker_code(bits) || op == OP_LOST || op == OP_WIDE);
}

static int settle_held(struct decoder *d, struct word_stream *l, const struct word *w)
{
	struct word held = l->held;
	bool foreign = w && is_next(l, w->bits);

	l->holding = false;
	d->holding--;
	return foreign ? feed_bare(d, l, &held, SAMPLE_FOREIGN, 1) : accept_after_gap(d, l, &held);
}

/* The first word of a stream, or the first after a gap that the front end reported. */
static int resume(struct decoder *d, struct word_stream *l, const struct word *w)
{
	return l->open ? accept_after_gap(d, l, w) : accept(d, l, w);
}

static int place_word(struct decoder *d, struct word_stream *l, const struct word *w)
{
	if (marker_is_snapshot(w->bits))
		return accept_snapshot(d, l, w);
	if (is_restart(l, w->bits))
		return accept_restart(d, l, w);
	if (is_next(l, w->bits))
		return accept(d, l, w);
	if (marker_is_scratch(w->bits))
		return 0;
	if (!is_plausible(d, l, w->bits))
		return feed_bare(d, l, w, SAMPLE_FOREIGN, 1);
	if (!l->open || l->gap)
		return resume(d, l, w);
	l->held = *w;
	l->holding = true;
	d->holding++;
	return 0;
}

/* The event word that a 32-bit or NUMBERED word stands for; NUMBERED if that is not known; any other word as it is. */
static uint64_t whole_word(const struct word_stream *l, uint64_t bits)
{
	uint64_t numbered = marker_is_short(bits) ? marker_of_short(bits) : bits, event;

	if (l->version < MARKER_EXTENSIONS || !marker_is_numbered(numbered))
		return bits;
	event = numbers_word(&l->numbers, marker_number(numbered), marker_seq(numbered));
	return marker_op(event) ? event : numbered;
}

/* By value: the caller's word need not lie in memory for this uncommon case. */
static COLD int decode_other(struct decoder *d, struct word_stream *l, struct word w)
{
	int err;

	if (!l)
		return d->codes->error[0] ? -EPROTO : -ENOMEM;
	d->words++;
	w.bits = whole_word(l, w.bits);
	err = l->holding ? settle_held(d, l, &w) : 0;
	return err ? err : place_word(d, l, &w);
}

/* Inlined, as the word then lies in registers. */
static inline __attribute__((always_inline)) int decode_one(struct decoder *d, struct word_stream *l,
							    const struct word *w)
{
	uint64_t bits = l ? word_whole(&l->numbers, w->bits) : 0;
	int64_t offset = marker_offset(bits);
	struct code *code;

	if (!l || !word_is_plain(l, bits))
		return decode_other(d, l, *w);
	code = codes_own(l->process, marker_code(bits));
	if (!code) /* of a parent, not written yet, or no code at all */
		return decode_other(d, l, *w);
	d->words++;
	l->process->received++;
	l->next = (l->next + 1) & MARKER_SEQ_MASK;
	return feed_code(d, l, w, marker_op(bits), code, offset, offset + marker_dist(bits),
			 object_of(l, marker_op(bits)));
}

int decode_word(struct decoder *d, const struct word *w)
{
	return decode_one(d, stream_of(d, w->pid, w->tid), w);
}

/* Events up to one that needs a sample, or to the end. 0, or what the feed returned. */
static int decode_quickly(struct decoder *d, struct word_stream *l, const struct word_run *run, struct word_part *p)
{
	uint32_t from = p->at;
	int err = 0;

	if (d->quick && l && d->quick->is(d->to, run->pid, run->tid, l->interpreter))
		err = d->quick->events(d->to, l, p);
	if (p->at == from)
		return err;
	d->words += p->at - from;
	l->process->received += p->at - from;
	return err;
}

int decode_words(struct decoder *d, const struct word_run *run, const struct words *w, uint32_t from, uint64_t in_ns)
{
	struct word_stream *l = stream_of(d, run->pid, run->tid);
	struct word_part p = { w, from, from + run->n, in_ns };
	int err = 0;

	for (; p.at < p.end && !err; p.at++) {
		err = decode_quickly(d, l, run, &p);
		if (err || p.at == p.end)
			break;
		err = decode_one(
			d, l, &(struct word){ run->pid, run->tid, w->ns[p.at], word_cycles(&p, p.at), w->bits[p.at] });
	}
	return err;
}

int decode_gap(struct decoder *d, int32_t pid, int32_t tid)
{
	struct word_stream *l = stream_of(d, pid, tid);
	int err = 0;

	if (!l)
		return -ENOMEM;
	if (l->holding)
		err = settle_held(d, l, NULL);
	l->gap = true;
	return err;
}

int decode_settle(struct decoder *d, int32_t pid, int32_t tid)
{
	struct word_stream *l = stream_of(d, pid, tid);

	return l && l->holding ? settle_held(d, l, NULL) : 0;
}

int decode_cpu(struct decoder *d, const struct word *w)
{
	struct word_stream *l = stream_of(d, w->pid, w->tid);
	int err;

	if (!l)
		return d->codes->error[0] ? -EPROTO : -ENOMEM;
	err = l->holding ? settle_held(d, l, NULL) : 0;
	return err ?: feed_kind(d, l, w, KIND_CPU, w->bits);
}

int decode_finish(struct decoder *d)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&d->streams, s));) {
		struct word_stream *l = s->value;

		if (l->holding)
			err = settle_held(d, l, NULL);
	}
	return err;
}

void decode_free(struct decoder *d)
{
	for (struct map_slot *s = NULL; (s = map_next(&d->streams, s));) {
		numbers_free(&((struct word_stream *)s->value)->numbers);
		free(s->value);
	}
	map_free(&d->streams);
}
