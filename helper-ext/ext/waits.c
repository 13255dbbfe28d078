/* SPDX-License-Identifier: MIT */
/*
 * waits.c - see waits.h.
 *
 * CPython takes its GIL by pthread_cond_timedwait(3), and waits for nothing else by it; its locks are semaphores. A
 * lock that is free is taken without a look at the clock. What an extension module of others waits for by a condition
 * is its own business: kind other. All these functions have up to six arguments, integers or pointers, and pass through
 * here in registers, however many they are. No Python is called, and no lock taken, but where a lock is made (locks.c):
 * the thread may or may not hold the GIL.
 */
#include <Python.h>
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include "got.h"
#include "lane.h"
#include "locks.h"
#include "process.h"
#include "waits.h"

#define LEAST_A_SECOND 1000000u /* 1 us */
#define MODULES	       "/lib-dynload/"

/* clang-format off */
#define GILS(X) X(GIL, pthread_cond_timedwait) X(GIL, pthread_cond_clockwait)
#define GIVEN(X) X(GIL, pthread_cond_wait)
#define MUTEXES(X) X(GIL, pthread_mutex_lock)
#define SEMAPHORES(X) X(LOCK, sem_wait) X(LOCK, sem_timedwait) X(LOCK, sem_clockwait)
#define MAKERS(X) X(MADE, sem_init) X(GONE, sem_destroy)
#define OTHERS(X) \
	X(OTHER, pthread_cond_timedwait) X(OTHER, pthread_cond_clockwait) X(OTHER, pthread_cond_wait)
#define CALLS(X) \
	X(SLEEP, clock_nanosleep) X(SLEEP, nanosleep) X(SLEEP, usleep) \
	X(POLL, poll) X(POLL, ppoll) X(POLL, select) X(POLL, pselect) X(POLL, epoll_wait) X(POLL, epoll_pwait) \
	X(READ, read) X(READ, readv) X(READ, pread64) X(READ, recv) X(READ, recvfrom) X(READ, recvmsg) \
	X(WRITE, write) X(WRITE, writev) X(WRITE, pwrite64) X(WRITE, send) X(WRITE, sendto) X(WRITE, sendmsg) \
	X(WRITE, sendfile64) X(WRITE, fsync) X(WRITE, fdatasync) \
	X(CONNECT, connect) X(ACCEPT, accept) X(ACCEPT, accept4) \
	X(PROCESS, waitpid) X(PROCESS, waitid) X(PROCESS, wait4) X(PROCESS, wait3) X(PROCESS, wait) \
	X(OTHER, flock) X(OTHER, lockf64) X(OTHER, sigtimedwait) X(OTHER, sigwaitinfo) X(OTHER, sigwait) X(OTHER, pause)
/* clang-format on */

typedef long (*call_fn)(long, long, long, long, long, long);

static struct {
	struct got got;
	uint64_t least; /* ticks */
	struct loaded {
		uint64_t ever, gone; /* how many objects were loaded and unloaded */
		size_t n;
	} loaded;     /* when we last looked */
	size_t known; /* so many were there the last time but one, too */
	_Atomic bool on;
} waits;

#define REAL(kind, name) static call_fn real_##name;
GILS(REAL)
GIVEN(REAL)
MUTEXES(REAL)
SEMAPHORES(REAL)
MAKERS(REAL)
CALLS(REAL)
#undef REAL

static inline void tell(enum wait_kind kind, uint64_t place, uint64_t begin)
{
	uint64_t end = ticks_now();

	if (end - begin >= waits.least)
		lane_waited(kind, place, begin, end);
}

#define TOLD(kind, name, place) \
	static long kind##_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		uint64_t begin = ticks_now(); \
		long result = real_##name(a, b, c, d, e, f); \
\
		tell(WAIT_FOR_##kind, place, begin); \
		return result; \
	}
/* After 5 ms it asks whoever has the GIL to let it go, and waits on (ceval_gil.c). */
#define X(kind, name) TOLD(kind, name, (int)result == ETIMEDOUT ? MARKER_GIL_NOT_GOT : 0)
GILS(X)
#undef X
/* Who lets it go because another has asked waits until that has got it. */
#define X(kind, name) TOLD(kind, name, MARKER_GIL_NOT_GOT)
GIVEN(X)
#undef X
#define X(kind, name) TOLD(kind, name, 0)
CALLS(X)
OTHERS(X)
#undef X

/* Is it taken without waiting? Then no clock is read. What else is wrong with it, the call itself will say. */
static bool mutex_is_taken(pthread_mutex_t *mutex, long *result)
{
	*result = pthread_mutex_trylock(mutex);
	return !*result || *result == EOWNERDEAD;
}

static bool semaphore_is_taken(sem_t *semaphore)
{
	int before = errno;
	bool taken = !sem_trywait(semaphore);

	errno = before;
	return taken;
}

#define X(kind, name) \
	static long kind##_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		uint64_t begin; \
		long result; \
\
		if (mutex_is_taken((pthread_mutex_t *)a, &result)) \
			return result; \
		begin = ticks_now(); \
		result = real_##name(a, b, c, d, e, f); \
		tell(WAIT_FOR_##kind, 0, begin); \
		return result; \
	}
MUTEXES(X)
#undef X

#define X(kind, name) \
	static long kind##_##name(long a, long b, long c, long d, long e, long f) \
	{ \
		uint64_t begin; \
		long result; \
\
		if (semaphore_is_taken((sem_t *)a)) \
			return 0; \
		begin = ticks_now(); \
		result = real_##name(a, b, c, d, e, f); \
		tell(WAIT_FOR_##kind, locks_place((const void *)a), begin); \
		return result; \
	}
SEMAPHORES(X)
#undef X

/* A lock that is free at first; those that are not are what threads of CPython 3.13 and later wait on themselves. */
static long MADE_sem_init(long a, long b, long c, long d, long e, long f)
{
	long result = real_sem_init(a, b, c, d, e, f);

	if (!(int)result && (unsigned int)c == 1)
		locks_made((const void *)a);
	return result;
}

static long GONE_sem_destroy(long a, long b, long c, long d, long e, long f)
{
	locks_gone((const void *)a);
	return real_sem_destroy(a, b, c, d, e, f);
}

struct row {
	const char *name;
	void *to;
	void **real;
};

/* What the interpreter calls, and what others do. */
#define X(kind, name) { #name, (void *)kind##_##name, (void **)&real_##name },
static const struct row own[] = { GILS(X) GIVEN(X) MUTEXES(X) SEMAPHORES(X) MAKERS(X) CALLS(X) };
static const struct row others[] = { OTHERS(X) SEMAPHORES(X) CALLS(X) };
#undef X

#define ROWS (sizeof(own) / sizeof(own[0]))

/* The interpreter, in a library or the program itself, and the extension modules that came with it. */
static bool is_own(const struct dl_phdr_info *object)
{
	return got_has(object, (uintptr_t)PyEval_SaveThread) || strstr(object->dlpi_name, MODULES);
}

/* Extension modules of others, by the names that CPython looks for; not Ocular's. */
static bool is_others(const struct dl_phdr_info *object)
{
	return (strstr(object->dlpi_name, ".cpython-") || strstr(object->dlpi_name, ".abi3.so")) && !is_own(object) &&
	       !got_has(object, (uintptr_t)is_own);
}

/* Those functions that this C library has. */
static int take_rows(const struct row *rows, size_t rows_n, got_wanted wanted)
{
	struct got_call calls[ROWS];
	size_t n = 0;

	for (size_t i = 0; i < rows_n; i++) {
		*rows[i].real = *rows[i].real ? *rows[i].real : dlsym(RTLD_DEFAULT, rows[i].name);
		if (*rows[i].real)
			calls[n++] = (struct got_call){ rows[i].name, rows[i].to };
	}
	return got_take(&waits.got, calls, n, wanted, waits.known);
}

static int read_loaded(struct dl_phdr_info *object, size_t size, void *loaded)
{
	struct loaded *l = loaded;

	(void)size;
	l->ever = object->dlpi_adds;
	l->gone = object->dlpi_subs;
	l->n++;
	return 0;
}

/*
 * pandas loads 90 objects, one by one: each time only the newest are read. Those of the time before, too: another
 * thread may have been loading them. When some are gone, the others have other places.
 */
static int take(void)
{
	struct loaded now = { 0 };
	int n;

	dl_iterate_phdr(read_loaded, &now);
	waits.known = now.gone == waits.loaded.gone ? waits.known : 0;
	n = take_rows(own, ROWS, is_own);
	n = n > 0 ? take_rows(others, sizeof(others) / sizeof(others[0]), is_others) : n;
	waits.known = now.gone == waits.loaded.gone ? waits.loaded.n : 0;
	waits.loaded = now;
	return n;
}

static int read_first(struct dl_phdr_info *object, size_t size, void *loaded)
{
	read_loaded(object, size, loaded);
	return 1;
}

void waits_look(void)
{
	struct loaded now = { 0 };

	if (!atomic_load_explicit(&waits.on, memory_order_relaxed))
		return;
	dl_iterate_phdr(read_first, &now);
	process_lock();
	if (waits.on && now.ever != waits.loaded.ever)
		take();
	process_unlock();
}

int waits_start(uint64_t hz, Py_ssize_t direct)
{
	int n;

	process_lock();
	waits.least = hz / LEAST_A_SECOND;
	waits.on = true;
	waits.loaded = (struct loaded){ 0 };
	waits.known = 0;
	n = take();
	if (n < 0) /* all or nothing: half of the waits would be read as all */
		got_give_back(&waits.got);
	waits.on = n > 0;
	process_unlock();
	if (n > 0)
		locks_start(direct);
	return n > 0 ? n : 0;
}

void waits_stop(void)
{
	process_lock();
	waits.on = false;
	got_give_back(&waits.got);
	process_unlock();
	locks_stop();
}
