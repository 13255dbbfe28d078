/* SPDX-License-Identifier: MIT */
/* wakeup.c - see wakeup.h. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "wakeup.h"

/* Times to wake up before there is a result, and before the older half counts less. */
#define LEAST 16
#define MOST  512
/* A result beyond this is due to something else. */
#define LIMIT_NS 50000

static uint64_t used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void begin(struct wakeup *w)
{
	w->since_ns = clock_monotonic_ns();
	w->used_ns = used();
	w->off_ns = w->n = 0;
}

int wakeup_open(struct wakeup *w)
{
	int err;

	*w = (struct wakeup){ 0 };
	err = switches_open(&w->own, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
	begin(w);
	return err;
}

/* What was long ago counts half. */
static void halve(struct wakeup *w, uint64_t now, uint64_t cpu)
{
	w->since_ns += (now - w->since_ns) / 2;
	w->used_ns += (cpu - w->used_ns) / 2;
	w->off_ns /= 2;
	w->n /= 2;
}

static void take(struct wakeup *w, const struct switched *s)
{
	if (!s->in)
		w->out_ns = s->ns;
	else
		w->off_ns += s->ns - w->out_ns;
	w->n += s->woken;
}

void wakeup_measure(struct wakeup *w)
{
	const struct switched *s;
	bool lost = false;
	uint64_t now, cpu, on;

	for (; (s = switches_peek(&w->own)); switches_take(&w->own)) {
		take(w, s);
		lost |= s->lost;
	}
	if (lost)
		begin(w);
	now = clock_monotonic_ns();
	cpu = used();
	on = now - w->since_ns - w->off_ns;
	if (w->n >= LEAST && cpu - w->used_ns > on)
		w->ns = (uint32_t)((cpu - w->used_ns - on) / w->n);
	if (w->ns > LIMIT_NS)
		w->ns = LIMIT_NS;
	if (w->n >= MOST)
		halve(w, now, cpu);
}

void wakeup_close(struct wakeup *w)
{
	switches_close(&w->own);
}
