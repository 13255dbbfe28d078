// SPDX-License-Identifier: MIT
/* Decodes and analyses in one thread: the two are idle most of the time. */
#include "front_live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pt/pt_follow.h"
#include "shared/ring.h"

#define SECOND	  1000000000ull
#define SILENCE	  (3600 * SECOND)
#define LOOK_MS	  100  /* how often it looks for more */
#define BEGIN_MS  20   /* the same, for a beginning */
#define BEGINNING 3000 /* ms: as long as a recorder may take for it */

struct live {
	struct front_ipt *front;
	struct analysis *analysis;
	const char *dir;
	int signals;
	bool asked;    /* to end */
	bool damaged;  /* what comes next is no record */
	uint64_t next; /* when the running second ends; 0: not known yet */
	struct pt_follow follow;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* A recorder that died has left its socket, but has the folder's lock no longer. */
static bool is_locked(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* The recorder's socket goes when all is written. */
static bool is_recorded(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/" RING_SOCKET, dir) < PATH_MAX && !lstat(path, &st) && is_locked(dir);
}

static int refuse(struct front_ipt *f, int err, const char *why)
{
	snprintf(f->trace.error, sizeof(f->trace.error), "%s", why);
	return err;
}

static bool is_beginning(const char *file)
{
	const char *slash = strrchr(file, '/');
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
	return is_recorded(dir);
}

int front_live_open(struct front_ipt *f, const char *file)
{
	int err = front_ipt_open(f, file);

	/* The clock's rate is known after a moment. */
	for (int ms = 0; err && ms < BEGINNING && is_beginning(file); ms += BEGIN_MS) {
		poll(NULL, 0, BEGIN_MS);
		err = front_ipt_open(f, file);
	}
	if (err || f->trace.config.emulated)
		return err;
	front_ipt_close(f);
	return refuse(f, -EOPNOTSUPP, "only what ocular-record writes can be followed, not a recording of perf record");
}

/* Waits so long. Was the end requested? */
static bool is_asked(const struct live *l, int ms)
{
	struct pollfd p = { .fd = l->signals, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* Is there a word later than this second? While more may come, the clock says whether the second is over. */
static bool is_over(const struct live *l, uint64_t limit)
{
	uint64_t next = limit == UINT64_MAX ? pt_follow_next(&l->follow) : limit;

	return l->next <= next && next != UINT64_MAX;
}

/*
 * The end of the second behind l->next. If nothing was recorded for longer than SILENCE, of the next one in which
 * something was: a damaged time may be years away, and no user needs so many seconds of nothing.
 */
static uint64_t next_second(const struct live *l, uint64_t limit)
{
	uint64_t silent = limit == UINT64_MAX ? pt_follow_next(&l->follow) - l->next : 0;

	return l->next + (silent < SILENCE ? SECOND : silent - silent % SECOND + SECOND);
}

/* Goes on to `limit`, second by second. The last second is the sinks' to tell, as they finish. */
static int run_to(struct live *l, uint64_t limit)
{
	uint64_t first = pt_follow_next(&l->follow);
	int err;

	if (!l->next && first == UINT64_MAX)
		return 0;
	if (!l->next)
		l->next = first + SECOND;
	for (;;) {
		err = pt_follow_until(&l->follow, l->next < limit ? l->next : limit);
		err = err ?: front_ipt_pass(l->front);
		if (err || !is_over(l, limit))
			return err;
		l->analysis->trace.profile.damaged = pt_trace_damages(&l->front->trace);
		err = trace_second(&l->analysis->trace, l->next);
		l->asked = is_asked(l, 0);
		if (err || l->asked)
			return err;
		l->next = next_second(l, limit);
	}
}

/* The file that is open is not the recording's any more: a piece of it is complete, and the next one begun. */
static bool is_replaced(const struct live *l)
{
	char path[PATH_MAX];
	struct stat ours, there;

	return snprintf(path, sizeof(path), "%s/perf.data", l->dir) < PATH_MAX && !stat(path, &there) &&
	       !fstat(l->front->trace.file.fd, &ours) && ours.st_ino != there.st_ino;
}

static int look(struct live *l, bool last)
{
	uint64_t limit = last ? UINT64_MAX : now_ns() - LIVE_LATE_NS;
	int err;

	if (is_replaced(l))
		return refuse(l->front, -EOPNOTSUPP,
			      "the recorder went on to another file (--switch-output): those are read when complete");
	err = pt_follow_more(&l->follow);
	l->damaged = err == -EBADMSG;
	if (l->damaged) { /* what was before is told, and nothing comes behind it */
		limit = UINT64_MAX;
		err = 0;
	}
	err = err ?: codes_more(&l->analysis->codes); /* the lines of words that are there are there */
	return err ?: run_to(l, limit);
}

static int follow(struct live *l, bool *ended)
{
	int err = 0;

	while (!err && !*ended && !l->asked) {
		*ended = !is_recorded(l->dir);
		err = look(l, *ended);
		*ended = (*ended || l->damaged) && !l->asked;
		l->asked |= !*ended && is_asked(l, LOOK_MS);
	}
	return err;
}

int front_live_feed(struct front_ipt *f, struct analysis *a, const char *dir, bool *ended)
{
	struct live *l = calloc(1, sizeof(*l));
	struct pt_feed words = { 0 };
	sigset_t set;
	int err;

	if (!l)
		return -ENOMEM;
	*ended = false;
	l->front = f;
	l->analysis = a;
	l->dir = dir;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC);
	err = l->signals < 0 ? -errno : front_ipt_begin(f, a, &words);
	pt_follow_begin(&l->follow, &f->trace, &words);
	err = pt_follow_end(&l->follow, err ?: follow(l, ended));
	a->trace.profile.damaged = f->trace.faults.damages;
	front_ipt_end(f);
	if (*ended)
		perfcheck_file(&f->trace.file.check, f->trace.file.fd);
	close(l->signals);
	free(l);
	return f->g.err ?: err;
}
