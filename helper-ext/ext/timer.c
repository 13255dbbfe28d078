/* SPDX-License-Identifier: MIT */
/* timer.c - see timer.h. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "schedule.h"
#include "timer.h"

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	pthread_t thread;
	pid_t tid;
	atomic_bool running;
	bool stop;
	struct ring_duty duty;
	void (*ring)(void);
} timer = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Until the time has come, or an end is requested. */
static bool wait_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (!timer.stop)
		if (pthread_cond_timedwait(&timer.wake, &timer.mutex, &ts) == ETIMEDOUT)
			break;
	return !timer.stop;
}

static void *run(void *unused)
{
	pthread_mutex_lock(&timer.mutex);
	timer.tid = (pid_t)syscall(SYS_gettid);
	while (wait_until(schedule_edge(&timer.duty, clock_ns(CLOCK_MONOTONIC)))) {
		pthread_mutex_unlock(&timer.mutex);
		timer.ring();
		pthread_mutex_lock(&timer.mutex);
	}
	pthread_mutex_unlock(&timer.mutex);
	return unused;
}

/* No signal of the program may be delivered here; the stack need only hold the above. */
static bool make_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN > 65536 ? PTHREAD_STACK_MIN : 65536);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&timer.thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return !err;
}

bool timer_start(const struct ring_duty *duty, void (*ring)(void))
{
	pthread_condattr_t attr;

	if (atomic_load(&timer.running))
		return true;
	/* New each time: in a forked child they may be in any state. */
	pthread_mutex_init(&timer.mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&timer.wake, &attr);
	pthread_condattr_destroy(&attr);
	timer.stop = false;
	timer.duty = *duty;
	timer.ring = ring;
	atomic_store(&timer.running, make_thread());
	return atomic_load(&timer.running);
}

/*
 * A thread that was joined may still be counted for a moment, and CPython counts threads at a fork (3.12 and later,
 * warn_about_fork_with_threads(), by num_threads of /proc/self/stat).
 */
static void wait_until_gone(pid_t tid)
{
	const struct timespec moment = { .tv_nsec = 20000 };

	for (int i = 0; i < 5000 && tid && !syscall(SYS_tgkill, getpid(), tid, 0); i++)
		nanosleep(&moment, NULL);
}

bool timer_stop(void)
{
	if (!atomic_exchange(&timer.running, false))
		return false;
	pthread_mutex_lock(&timer.mutex);
	timer.stop = true;
	pthread_cond_signal(&timer.wake);
	pthread_mutex_unlock(&timer.mutex);
	pthread_join(timer.thread, NULL);
	wait_until_gone(timer.tid);
	return true;
}
