/* SPDX-License-Identifier: MIT */
/*
 * lane.c - see lane.h: everything that happens when a thread cannot simply append.
 *
 * Waiting for room holds the GIL, on purpose: the program stops for a moment rather than being traced with another
 * interleaving of its threads. Without a GIL only this thread stops, and whoever wants to stop the world.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "lane.h"
#include "process.h"
#include "rings.h"
#include "shared/array.h"

/*
 * Waits that are kept until the thread's next event; and ticks between two that are one. A thread that has not got the
 * GIL yet waits on in some 10 us at most, or on a machine whose processors others use, too, in less than a millisecond.
 */
#define WAITS	    16
#define WAITS_NEAR  20000
#define WAITS_AGAIN 2000000
/*
 * Room that lane_open() reserves: RING_THREAD, SNAPSHOT, HELLO, LOST, CPU_TIME, waits, CALLEE or OBJECT, WIDE; and the
 * words themselves.
 */
#define LANE_BURST (7 + 2 * WAITS + LANE_WORDS_MAX)
_Static_assert(LANE_BURST <= RING_RECORDS_MIN / 2, "the smallest ring has room while the recorder reads");
/* Yields before sleeping: the recorder is usually awake and needs microseconds. */
#define LANE_YIELDS	 64
#define LANE_NAP_NS	 50000
#define LANE_NAP_PART	 32 /* of the time waited so far */
#define LANE_NAP_MOST_NS 100000000u
#define DESERTED_CHECK	 1024 /* words dropped between two checks of the recorder */
/* Minimum number of records between two checks whether anybody would read them: a system call each. */
#define FLIGHT_CHECK (1u << 20)
#define NOT_STALLED  UINT64_MAX
/* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED of the kernel (posix-timers.h): the CPU clock of a thread. */
#define CLOCK_OF_THREAD 6u
#define NO_INTERPRETER	UINT64_MAX

static _Atomic uint64_t nothing_written;
struct numbers lane_no_numbers;
#define CURSOR_FULL \
	{ \
		.head = &nothing_written, .limit = 0, .interpreter = NO_INTERPRETER, .numbers = &lane_no_numbers \
	}
_Thread_local struct cursor lane_cursor[LANE_VIEWS] = { CURSOR_FULL, CURSOR_FULL };
static _Thread_local struct lane *lane_own __attribute__((tls_model("initial-exec")));

/* Only the thread itself touches them, because it may wait while the world is stopped. */
struct waited {
	unsigned int n;
	struct {
		enum wait_kind kind;
		uint64_t place, begin, end;
	} all[WAITS];
};
static _Thread_local struct waited *lane_waits __attribute__((tls_model("initial-exec")));

static struct {
	pthread_once_t once;
	pthread_key_t key;
	struct lane *all;
	struct lane_total *ended;
	size_t nended, room;
	_Atomic uint64_t lost; /* by threads that ended or never had a lane */
	enum backend backend;
	bool coarse, numbers;
	bool active;
	void (*_Atomic deserted)(void); /* NULL: no check */
} lanes = { .once = PTHREAD_ONCE_INIT };

/* The thread's next event goes the slow way. */
static void lane_hide(struct lane *l)
{
	for (int view = 0; view < LANE_VIEWS; view++)
		l->shown[view] = (struct cursor)CURSOR_FULL;
}

/* After the ring's last record. */
static uint64_t lane_end_of_ring(const struct lane *l)
{
	return (uintptr_t)(ring_records(l->ring) + l->ring->nrecords);
}

/* Where the ring's memory ends, at least a burst after `head`. */
static uint64_t lane_end_of_memory(const struct lane *l, uint64_t head)
{
	const struct ring_record *first = ring_records(l->ring);
	uint64_t needed = head + LANE_BURST * sizeof(*first);

	while (l->ring->populated < l->ring->nrecords && (uintptr_t)(first + l->ring->populated) < needed)
		rings_grow(l->ring);
	return (uintptr_t)(first + l->ring->populated);
}

/* The limit, if the ring has room for this many words. */
static void lane_set_limit(struct lane *l, uint32_t room)
{
	uint64_t head = cursor_head(&l->at), limit = head + room * sizeof(struct ring_record);
	uint64_t end = lane_end_of_memory(l, head);

	l->at.limit = limit < end ? limit : end;
}

/* Words there is room for now; in flight mode always. */
static uint32_t lane_free(const struct lane *l)
{
	return rings_config()->flight ? l->ring->nrecords : rings_room(l->ring);
}

/* From the ring's end to its beginning. */
static bool lane_wrap(struct lane *l)
{
	if (!l->ring || cursor_head(&l->at) != lane_end_of_ring(l))
		return false;
	ring_wrap(l->ring);
	return true;
}

/* head of a lane that has room for a word, back at the ring's beginning if that was its end. */
static uint64_t lane_place(struct lane *l)
{
	if (lane_wrap(l)) {
		lane_set_limit(l, lane_free(l));
		lane_hide(l); /* it may show the limit before */
	}
	return cursor_head(&l->at);
}

/* Words ever written. */
static uint64_t lane_words(const struct lane *l)
{
	return l->ring ? rings_head(l->ring) : cursor_head(&l->at);
}

static void (*const put[BACKENDS])(const struct cursor *, uint64_t, uint64_t) = {
	[BACKEND_SOFTWARE] = lane_put,
	[BACKEND_PTWRITE] = lane_put_whole,
	[BACKEND_EMULATED] = lane_put_emulated,
};

/* Which of its two cursors shows the lane. */
static struct cursor *lane_shown(const struct cursor *c)
{
	return &lane_cursor[c - lane_cursor];
}

__attribute__((noinline)) void lane_put_unnumbered(const struct cursor *c, uint64_t head, uint64_t word)
{
	struct numbers *n = c->numbers;
	uint32_t number = 0;

	if (n != &lane_no_numbers) {
		n->chunk = lane_chunk(head);
		number = numbers_meet(n, numbers_slot(n, word), word);
	}
	if (number) {
		arch_trace(lane_sequenced(c, head, numbers_definition(&word, number)));
		lane_own->at.skew++;
		lane_shown(c)->skew++;
	}
	lane_put_whole(c, head, word);
}

void lane_write(struct lane *l, uint64_t word)
{
	put[lanes.backend](&l->at, lane_place(l), word);
}

/* A ring's head is right after each record: its reader counts on that (record/window.c). */
static void put_stamped(const struct cursor *c, uint64_t head, const uint64_t *words, unsigned int n)
{
	struct ring_record *r = (struct ring_record *)head;
	uint64_t now = ticks_now();

	for (unsigned int i = 0; i < n; i++) {
		arch_prefetch(r + i + LANE_AHEAD);
		r[i] = (struct ring_record){ now, words[i] };
		atomic_store_explicit(c->head, (uintptr_t)(r + i + 1), memory_order_release);
	}
}

bool lane_append(uint64_t interpreter, enum lane_view view, const uint64_t *words, unsigned int n)
{
	const struct cursor *c = &lane_cursor[view];
	uint64_t head = cursor_head(c);

	if (c->interpreter != interpreter || c->limit < head + n * sizeof(struct ring_record))
		return false;
	if (lanes.backend == BACKEND_SOFTWARE)
		put_stamped(c, head, words, n);
	else
		for (unsigned int i = 0; i < n; i++)
			put[lanes.backend](c, head + i, words[i]);
	return true;
}

static void lane_reset(struct lane *l)
{
	struct lane *next = l->next, **link = l->link;
	struct cursor *shown = l->shown;

	free(l->numbers);
	*l = (struct lane){ .at = CURSOR_FULL, .stalled = NOT_STALLED };
	l->at.head = &l->count;
	l->shown = shown;
	l->tid = (uint32_t)syscall(SYS_gettid);
	l->next = next;
	l->link = link;
	lane_hide(l);
}

static void lane_put_lost(struct lane *l)
{
	lane_write(l, marker_lost(0, l->dropped));
	l->at.skew += l->dropped;
	l->dropped = 0;
	if (l->ring)
		atomic_store_explicit(&l->ring->lost, 0, memory_order_relaxed);
}

/* Words that come after the recording has ended are not lost from it; those that no file has room for are. */
static void lane_drop(struct lane *l, uint64_t words)
{
	l->dropped += words;
	l->lost += words;
	lane_hide(l);
	if (l->ring && atomic_load_explicit(&l->ring->closed, memory_order_acquire) != RING_ENDED)
		atomic_store_explicit(&l->ring->lost, l->dropped, memory_order_relaxed);
}

void lanes_drop(uint64_t words)
{
	atomic_fetch_add_explicit(&lanes.lost, words, memory_order_relaxed);
}

/* Record what the thread wrote. Without memory the row is missing, and the reader counts itself. */
static void lane_settle(struct lane *l)
{
	uint64_t written = lane_words(l) - l->first;

	lanes_drop(l->lost);
	if (l->ring && !rings_config()->flight && rings_deserted(l->ring))
		lanes_drop(l->ring->nrecords - rings_room(l->ring));
	if (written && ARRAY_ROOM(lanes.ended, lanes.nended, lanes.room))
		lanes.ended[lanes.nended++] = (struct lane_total){ l->tid, written };
}

/* In flight mode the recorder is checked only now and then. */
static bool lane_flies_in_vain(struct lane *l)
{
	if (!rings_config()->flight || lane_words(l) - l->looked < FLIGHT_CHECK)
		return false;
	if (rings_deserted(l->ring))
		return true;
	l->looked = lane_words(l);
	return false;
}

static bool lane_refresh(struct lane *l, uint32_t wanted)
{
	uint32_t room = lane_flies_in_vain(l) ? 0 : lane_free(l);

	lane_wrap(l);
	lane_set_limit(l, room);
	return room >= wanted;
}

/* A record with its own time, or a word that only the recorder reads: rings only. */
static void lane_put_at(struct lane *l, uint64_t tsc, uint64_t word)
{
	struct ring_record *r = (struct ring_record *)lane_place(l);

	*r = (struct ring_record){ tsc, word };
	atomic_store_explicit(l->at.head, (uintptr_t)(r + 1), memory_order_release);
}

/* When the ring's newest record was written, of those that have a time. */
static uint64_t lane_last_tsc(const struct lane *l)
{
	uint64_t head = rings_head(l->ring), tsc = RING_NO_TIME;

	for (unsigned int i = 0; tsc == RING_NO_TIME && i < RING_COARSE; i++)
		tsc = ring_records(l->ring)[--head & (l->ring->nrecords - 1)].tsc;
	return tsc;
}

uint64_t lane_stamp(void)
{
	const struct lane *l = lane_own;
	uint64_t now = ticks_now(), head = l && l->ring ? rings_head(l->ring) : 0;
	struct ring_record *newest = head ? &ring_records(l->ring)[(head - 1) & (l->ring->nrecords - 1)] : NULL;

	if (newest && newest->tsc == RING_NO_TIME)
		newest->tsc = now;
	return now;
}

/*
 * SNAPSHOT at the end of a window, after LOST and the window's last word. The lane's thread does not write meanwhile.
 * Without room the next window's beginning ends it, too.
 */
static void lane_end_window(struct lane *l, uint64_t tsc, bool room)
{
	uint64_t last;

	if (l->window != LANE_ALWAYS && room) {
		if (l->dropped)
			lane_put_lost(l);
		last = lane_last_tsc(l);
		lane_put_at(l, tsc > last ? tsc : last, marker_snapshot(0, l->window, true));
	}
	l->window = LANE_ALWAYS;
	lane_hide(l);
}

/* Has it written into a ring, and is there room for one word more? */
static bool lane_is_open(struct lane *l)
{
	return l->at.interpreter != NO_INTERPRETER && l->ring && lane_refresh(l, 1);
}

/*
 * How much CPU time its thread has used so far: where the kernel shows nobody's switches, that is all there is. Not in
 * windows and snapshots, of which nobody sees both ends. The thread itself writes it, or, into its ring, whoever stops;
 * beside the processor's trace perf records switches.
 */
static void lane_put_used(struct lane *l)
{
	const struct ring_config *config = rings_config();
	clockid_t clock = (clockid_t)(~l->tid << 3 | CLOCK_OF_THREAD);
	struct timespec ts;

	if (config->duty.period_ns || config->flight || !l->ring)
		return;
	if (!clock_gettime(clock, &ts))
		lane_write(l, marker_extension(0, KIND_CPU_TIME, (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec));
}

/* The thread ends. A ring with an unreported loss is not passed on: the loss would count for another thread. */
static void lane_end(void *arg)
{
	struct lane *l = arg;

	process_lock();
	if (l->ring && l->window != LANE_ALWAYS)
		lane_end_window(l, ticks_now(), lane_refresh(l, LANE_BURST));
	else if (lane_is_open(l))
		lane_put_used(l);
	lane_settle(l);
	if (l->ring && (l->dropped || l->announce))
		rings_finish(l->ring);
	else if (l->ring)
		rings_give(l->ring);
	*l->link = l->next;
	if (l->next)
		l->next->link = l->link;
	process_unlock();
	lane_own = NULL;
	lane_hide(l);
	free(l->numbers);
	free(l);
	free(lane_waits);
	lane_waits = NULL;
}

static struct lane *lane_begin(void)
{
	struct lane *l = aligned_alloc(64, (sizeof(*l) + 63) / 64 * 64);

	if (!l)
		return NULL;
	l->shown = lane_cursor;
	l->numbers = NULL;
	process_lock();
	l->next = lanes.all;
	l->link = &lanes.all;
	if (l->next)
		l->next->link = &l->next;
	lanes.all = l;
	lane_reset(l);
	process_unlock();
	pthread_setspecific(lanes.key, l);
	lane_own = l;
	lane_waits = calloc(1, sizeof(*lane_waits)); /* without memory they are not told */
	return l;
}

/* A ring for the lane. The recorder may be gone for good: ask less and less often. */
static bool lane_attach(struct lane *l)
{
	struct ring *r;

	if (l->refusals & (l->refusals - 1)) {
		l->refusals++;
		return false;
	}
	process_lock();
	l->ring = r = lanes.active ? rings_take(l->tid, &l->announce) : NULL;
	process_unlock();
	if (!r) {
		l->refusals++;
		return false;
	}
	l->refusals = 0;
	l->at.head = &r->at;
	l->at.limit = cursor_head(&l->at);
	l->first = lane_words(l);
	l->looked = l->first - FLIGHT_CHECK;
	return true;
}

/* A processor's trace accepts every word; the sequence shows what it loses. */
static bool lane_attach_trace(struct lane *l)
{
	if (lanes.numbers && !l->numbers && (l->numbers = calloc(1, sizeof(*l->numbers))))
		l->at.numbers = l->numbers;
	process_lock();
	if (lanes.active)
		l->at.limit = UINT64_MAX;
	process_unlock();
	return l->at.limit == UINT64_MAX;
}

/* Whoever has waited long naps long: each nap is a switch, and a recorder that does not read has room for few. */
static void lane_nap(uint64_t waited_ns)
{
	uint64_t ns = waited_ns / LANE_NAP_PART;

	ns = ns < LANE_NAP_NS ? LANE_NAP_NS : ns;
	nanosleep(&(struct timespec){ .tv_nsec = (long)(ns < LANE_NAP_MOST_NS ? ns : LANE_NAP_MOST_NS) }, NULL);
}

/* Wait until a quarter is free, so that there are few, long waits; LANE_BURST is enough. */
static bool lane_wait(struct lane *l, uint32_t wait_ms)
{
	uint32_t quarter = l->ring->nrecords / 4, wanted = quarter > LANE_BURST ? quarter : LANE_BURST;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), waited;
	unsigned int i;

	for (i = 0; !lane_refresh(l, wanted); i++) {
		if (i < LANE_YIELDS) {
			sched_yield();
			continue;
		}
		waited = clock_ns(CLOCK_MONOTONIC) - begin;
		if (waited >= wait_ms * 1000000ull || rings_deserted(l->ring))
			break;
		lane_nap(waited);
	}
	return lane_refresh(l, LANE_BURST);
}

/* After one wait in vain there is no other until the recorder has read something. */
static bool lane_room(struct lane *l)
{
	uint32_t wait_ms = rings_config()->wait_ms;
	uint64_t tail, begin;
	bool room;

	if (atomic_load_explicit(&l->ring->closed, memory_order_acquire))
		return false;
	if (lane_refresh(l, LANE_BURST))
		return true;
	tail = atomic_load_explicit(&l->ring->tail, memory_order_acquire);
	if (!wait_ms || tail == l->stalled || rings_config()->flight)
		return false;
	begin = ticks_now();
	room = lane_wait(l, wait_ms);
	lane_waited(WAIT_FOR_RING, 0, begin, ticks_now());
	if (!room)
		l->stalled = tail;
	return room;
}

static bool lane_ready(struct lane *l)
{
	if (lanes.backend != BACKEND_SOFTWARE)
		return lane_attach_trace(l);
	return (l->ring || lane_attach(l)) && lane_room(l);
}

static void lane_put_thread(struct lane *l)
{
	uint64_t before = atomic_load_explicit(&l->ring->tid, memory_order_relaxed);

	l->first = lane_words(l) + 1;
	l->announce = false;
	atomic_store_explicit(&l->ring->tid, l->tid, memory_order_relaxed);
	lane_put_at(l, ticks_now(), (uint64_t)OP_RING_THREAD << MARKER_OP_SHIFT | before << 32 | l->tid);
}

/* Is a wait that begins now a part of the latest one? */
static bool is_same_wait(const struct waited *w, enum wait_kind kind, uint64_t place, uint64_t begin)
{
	bool again = kind == WAIT_FOR_GIL && w->n && w->all[w->n - 1].place == MARKER_GIL_NOT_GOT;

	return w->n && w->all[w->n - 1].kind == kind && (again || w->all[w->n - 1].place == place) &&
	       (begin - w->all[w->n - 1].end < (again ? WAITS_AGAIN : WAITS_NEAR) || w->n == WAITS);
}

/* Whatever the thread wrote meanwhile comes after what it waited for, so only the next event's slow way shows it. */
void lane_waited(enum wait_kind kind, uint64_t place, uint64_t begin, uint64_t end)
{
	struct waited *w = lane_waits;

	if (!w)
		return;
	if (is_same_wait(w, kind, place, begin))
		w->n--;
	else if (w->n == WAITS)
		return;
	else
		w->all[w->n].begin = begin;
	w->all[w->n].kind = kind;
	w->all[w->n].place = place;
	w->all[w->n++].end = end;
	for (int view = 0; view < LANE_VIEWS; view++)
		if (lane_cursor[view].head == lane_own->at.head) /* not the scratch lane's (scratch.h) */
			lane_cursor[view] = (struct cursor)CURSOR_FULL;
}

/* They come before what is written now, and after what was written before; if nothing was, they do not matter. */
static void lane_put_waits(struct lane *l, bool continues)
{
	struct waited *w = lane_waits;

	for (unsigned int i = 0; i < w->n && l->ring && continues; i++) {
		uint64_t last = lane_last_tsc(l);

		if (w->all[i].begin < last) /* tracing began meanwhile */
			continue;
		lane_put_at(l, w->all[i].begin, marker_wait(w->all[i].kind, true) | w->all[i].place);
		lane_put_at(l, w->all[i].end, marker_wait(w->all[i].kind, false) | w->all[i].place);
	}
	w->n = 0;
}

/* What must come before the next event word. HELLO is a thread's first word, so LOST follows it. */
static void lane_preface(struct lane *l, uint64_t interpreter, uint32_t window)
{
	bool begins = false;

	if (l->announce)
		lane_put_thread(l);
	if (l->window != window) {
		lane_write(l, marker_snapshot(0, window, false));
		l->window = window;
	}
	if (l->at.interpreter != interpreter) {
		if (l->ring)
			atomic_store_explicit(&l->ring->hello, ring_hello(lane_words(l), interpreter),
					      memory_order_relaxed);
		lane_write(l, marker_hello(0, (uint32_t)interpreter));
		begins = l->at.interpreter == NO_INTERPRETER;
		l->at.interpreter = interpreter;
	}
	if (l->dropped)
		lane_put_lost(l);
	if (begins)
		lane_put_used(l);
}

/*
 * Checking the recorder is a system call: not for each word of a ring that is only full. Words come by one or two, so
 * one of two counts is met. A thread that came when the recorder was gone has no ring.
 */
static bool lane_is_deserted(const struct lane *l)
{
	return lanes.deserted && l->lost % DESERTED_CHECK < 2 && rings_deserted(l->ring);
}

/* Adding a pending call may wait for another thread: the lane is not touched afterwards. */
static void report_deserted(void)
{
	void (*deserted)(void) = lanes.deserted;

	if (deserted)
		deserted();
}

/* Would its ring take so many words the quick way? Then nothing need come before them, nor be looked at. */
static bool lane_continues(const struct lane *l, uint64_t interpreter, enum lane_view view, uint32_t window,
			   unsigned int words)
{
	const struct cursor *c = &l->shown[view];

	return c->interpreter == interpreter && l->ring && l->window == window && !(lane_waits && lane_waits->n) &&
	       cursor_head(c) + words * sizeof(struct ring_record) <= c->limit;
}

struct lane *lane_open(uint64_t interpreter, enum lane_view view, uint32_t window, unsigned int words)
{
	struct lane *l;

	if (window == LANE_SHUT)
		return NULL;
	l = lane_own ? lane_own : lane_begin();
	if (l && lane_continues(l, interpreter, view, window, words)) {
		l->shown[view].told = 0;
		return l;
	}
	if (!l) {
		lanes_drop(words);
		return NULL;
	}
	if (!lane_ready(l)) {
		bool gone = lane_is_deserted(l);

		lane_drop(l, words);
		if (gone)
			report_deserted();
		return NULL;
	}
	if (lane_waits && lane_waits->n)
		lane_put_waits(l, l->at.interpreter == interpreter && l->window == window);
	lane_preface(l, interpreter, window);
	lane_hide(l);
	if (l->met) /* else its next event must come here, too: words of hooks may be first */
		l->shown[view] = l->at;
	return l;
}

void lanes_shut(uint64_t interpreter, uint64_t tsc)
{
	process_lock();
	for (struct lane *l = lanes.all; l; l = l->next)
		if (l->ring && l->at.interpreter == interpreter)
			lane_end_window(l, tsc, l->window != LANE_ALWAYS && lane_room(l));
	process_unlock();
}

void lanes_meet(uint64_t interpreter)
{
	process_lock();
	for (struct lane *l = lanes.all; l; l = l->next) {
		if (l->at.interpreter != interpreter)
			continue;
		l->met = false;
		lane_hide(l);
	}
	process_unlock();
}

bool lanes_deserted(void)
{
	bool gone = false;

	process_lock();
	for (struct lane *l = lanes.all; l && !gone; l = l->next)
		gone = rings_deserted(l->ring);
	process_unlock();
	if (gone)
		report_deserted();
	return gone;
}

/* Only the forking thread lives on; its lane begins anew, without touching the parent's ring. */
void lanes_forked(void)
{
	struct lane *l, *next;

	for (l = lanes.all; l; l = next) {
		next = l->next;
		if (l == lane_own)
			continue;
		free(l->numbers);
		free(l);
	}
	lanes.all = lane_own;
	if (lane_own) {
		lane_own->next = NULL;
		lane_own->link = &lanes.all;
		lane_reset(lane_own);
	}
	lanes.nended = 0;
	lanes.lost = 0;
	rings_forget();
}

static void lanes_once(void)
{
	pthread_key_create(&lanes.key, lane_end);
}

void lanes_choose(enum backend backend, bool coarse, bool numbers)
{
	lanes.backend = backend;
	lanes.coarse = coarse;
	lanes.numbers = numbers && backend == BACKEND_PTWRITE;
}

bool lanes_coarse(void)
{
	return lanes.coarse;
}

enum backend lanes_backend(void)
{
	return lanes.backend;
}

int lanes_start(const struct ring_config *config, const char *dir, void (*deserted)(void))
{
	int err;

	pthread_once(&lanes.once, lanes_once);
	process_lock();
	err = lanes.backend == BACKEND_SOFTWARE ? rings_start(config, dir) : 0;
	lanes.active = !err;
	lanes.deserted = deserted;
	process_unlock();
	return err;
}

size_t lanes_stop(struct lane_total **totals, uint64_t *lost)
{
	struct lane *l;
	size_t n;

	process_lock();
	lanes.active = false;
	lanes.deserted = NULL;
	for (l = lanes.all; l; l = l->next) {
		uint32_t tid = l->tid;

		if (lane_is_open(l))
			lane_put_used(l);
		lane_settle(l);
		if (l->ring)
			rings_finish(l->ring);
		lane_reset(l);
		l->tid = tid;
	}
	rings_stop();
	*totals = lanes.ended;
	*lost = lanes.lost;
	n = lanes.nended;
	lanes.ended = NULL;
	lanes.nended = lanes.room = lanes.lost = 0;
	process_unlock();
	return n;
}
