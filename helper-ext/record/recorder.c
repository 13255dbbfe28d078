/* SPDX-License-Identifier: MIT */
/* recorder.c - the main loop: rings, file, requests, deaths, signals. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flight.h"
#include "recorder.h"
#include "requests.h"
#include "socket.h"
#include "tree.h"

#define NAP_NS	     1000000ull
#define NAP_LEAST_NS (NAP_NS / 8)
#define IDLE_NS	     100000000ull /* while there is no ring */
/*
 * How full, in percent, the fullest ring may be: above it the next round comes at once; a nap was too long, or too
 * short. Traced generators write 40 M records a second: 30 % of a ring in a millisecond.
 */
#define BUSY	     12
#define TOO_LONG     25
#define TOO_SHORT    5
#define FLUSH_NS     100000000ull /* how much of the end is missing if the recorder is killed */
#define EVENTS	     64
#define SAME_WISH_NS 300000000ull
#define LEFT_MOST    16		   /* processes that are named */
#define JUST_NS	     1000000000ull /* after the target's end: for processes it has just started */
#define LAST_WORDS   64		   /* rounds of requests that an ended target has left */

static struct figures figures(const struct recorder *r)
{
	return (struct figures){
		.out = &r->out,
		.processes = r->processes.seen,
		.threads = r->out.threads,
		.damaged = r->rings.damaged,
		.path = r->folder.path,
		.flight = r->flight.on,
		.snapshots = r->flight.taken,
		.refused = r->flight.refused,
		.stall_ns = r->flight.stall_ns,
	};
}

/* If a file cannot be written any more, the recording ends, not the target. */
static void check_file(struct recorder *r)
{
	if (!r->out.file.error || r->error_reported)
		return;
	r->error_reported = r->closed = true;
	rings_close(&r->rings, RING_FAILED);
	progress_clear(&r->progress);
	fprintf(stderr,
		"ocular-record: cannot write %s/" FOLDER_DATA
		": %s; what was written before is complete, what follows is not written\n",
		r->folder.path, strerror(-r->out.file.error));
}

static void process_event(struct recorder *r, uint32_t pid)
{
	struct process *p = processes_find(&r->processes, pid);

	if (!p || !process_ended(p))
		return;
	/* Its last request, accepted and read in the next two rounds, comes before its end. */
	if (r->flight.on && p->noticed++ < 2)
		return;
	requests_end_process(r, p);
}

/* A line about the whole recording, for the readers: any table will do. */
__attribute__((format(printf, 2, 3))) static void append(const struct recorder *r, const char *format, ...)
{
	char line[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (const struct process *p = r->processes.first; p; p = p->next)
		flight_append(r, p->pid, line, n);
	for (size_t i = 0; !r->processes.first && i < r->rotation.nended; i++)
		flight_append(r, r->rotation.ended[i].pid, line, n);
}

/* What all files should have: dropped words and those that could not be written are missing from them. */
static uint64_t words(const struct recorder *r)
{
	return r->out.markers + r->out.lost + r->out.discarded;
}

/* A file is complete; `before`: what is in those before it. */
static void append_piece(const struct recorder *r, uint32_t number, const char *name, uint64_t before)
{
	append(r, "{\"kind\":\"piece\",\"number\":%u,\"file\":\"%s\",\"words\":%" PRIu64 ",\"most\":%u}\n", number,
	       name, words(r) - before, r->options->rotation.files);
}

/* Everything so far is in the file, which gets its final name, and a new one begins. */
static void switch_output(struct recorder *r)
{
	uint64_t before = r->rotation.words;
	struct rotated_name name;
	int err;

	if (!r->flight.on)
		rings_drain(&r->rings);
	rings_flush(&r->rings);
	recorder_update_clock(r);
	r->out.before += perfdata_size(&r->out.file);
	err = perfdata_close(&r->out.file);
	err = err ?: rotation_close(&r->rotation, r->folder.fd, words(r), clock_monotonic_ns(), &name);
	if (!err)
		append_piece(r, r->rotation.number - 1, name.text, before);
	err = err ?: perfdata_create(&r->out.file, r->folder.fd, FOLDER_DATA, PTFRAME_RATIO);
	r->out.file.error = err;
	recorder_update_clock(r);
	rings_reopen(&r->rings, !r->flight.on);
	/* From now on a table's count of its process's words is not for one file. */
	append(r, "{\"kind\":\"switch\",\"number\":%u}\n", r->rotation.number);
	rotation_trim(&r->rotation, r->folder.fd, &r->options->rotation);
}

/* Is there anything for this file, in it or in the rings? */
static bool has_something(struct recorder *r)
{
	rings_drain(&r->rings);
	rings_flush(&r->rings);
	return words(r) != r->rotation.words;
}

static void take_signal(struct recorder *r, const struct signalfd_siginfo *si)
{
	char members[96];
	const struct trigger t = { .members = members };

	snprintf(members, sizeof(members), "\"trigger\":\"signal\",\"label\":\"SIGUSR2\",\"data\":{\"from\":%u}",
		 si->ssi_pid);
	flight_take(r, &t);
}

/* timeout(1) and others signal the recorder and then its process group: that is one request. */
static void count_interrupt(struct recorder *r)
{
	uint64_t now = clock_monotonic_ns();

	if (r->interrupts && now - r->interrupted_ns < SAME_WISH_NS)
		return;
	r->interrupted_ns = now;
	r->interrupts++;
}

static void take_signals(struct recorder *r)
{
	struct signalfd_siginfo si;

	while (read(r->signals, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			target_reap(&r->target);
			continue;
		}
		if (r->flight.on && si.ssi_signo == SIGUSR2) { /* as in perf record --snapshot */
			take_signal(r, &si);
			continue;
		}
		if (r->options->rotation.signal && si.ssi_signo == SIGUSR2) { /* likewise --switch-output */
			if (!r->complete && has_something(r))
				switch_output(r);
			continue;
		}
		if (si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM)
			count_interrupt(r);
		target_pass(&r->target, si.ssi_signo, si.ssi_code);
	}
}

static void dispatch(struct recorder *r, uint64_t data)
{
	uint32_t value = data;

	switch ((enum source)(data >> 32)) {
	case FROM_LISTENER:
		requests_accept(r);
		break;
	case FROM_CLIENT:
		requests_serve(r, value);
		break;
	case FROM_SIGNALS:
		take_signals(r);
		break;
	case FROM_CONTROL:
		flight_order(r);
		break;
	case FROM_BREAKPOINT:
		flight_breakpoint(r, value);
		break;
	case FROM_PROCESS:
		process_event(r, value);
		break;
	case FROM_STARTER:
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->starter, NULL);
		r->starter_ended = true;
		break;
	}
}

/* epoll_wait(2) in nanoseconds, if the kernel has that (Linux 5.11) and seccomp allows it; else in ms. */
static int wait_ns(int epoll, struct epoll_event *events, uint64_t ns)
{
#ifdef __NR_epoll_pwait2
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	int n = (int)syscall(__NR_epoll_pwait2, epoll, events, EVENTS, &ts, NULL, 0);

	if (n >= 0 || errno == EINTR)
		return n;
#endif
	return epoll_wait(epoll, events, EVENTS, (int)((ns + 999999) / 1000000));
}

static int wait_events(struct recorder *r, uint64_t ns)
{
	struct epoll_event events[EVENTS];
	int n = wait_ns(r->epoll, events, ns);

	for (int i = 0; i < n; i++)
		dispatch(r, events[i].data.u64);
	return n;
}

/* Processes that died are marked so, even if the request for the end was read first. */
static void end_dead(struct recorder *r)
{
	struct process *next;

	for (struct process *p = r->processes.first; p; p = next) {
		next = p->next;
		if (process_ended(p))
			requests_end_process(r, p);
	}
}

static void append_natives(const struct recorder *r)
{
	const struct natives *n = &r->rings.natives;

	if (n->hz)
		append(r,
		       "{\"kind\":\"native\",\"hz\":%u,\"samples\":%" PRIu64 ",\"lost\":%" PRIu64
		       ",\"threads_without\":%" PRIu64 ",\"error\":\"%s\"}\n",
		       n->hz, n->samples, n->dropped, n->unseen, n->error ? strerror(-n->error) : "");
}

/* Everything emitted is in the file, and the file is complete; idempotent. */
static void complete(struct recorder *r)
{
	if (r->complete)
		return;
	r->closed = true;
	end_dead(r);
	if (r->flight.on)
		flight_end(r);
	else
		rings_finish(&r->rings);
	recorder_update_clock(r);
	perfdata_close(&r->out.file);
	append_natives(r);
	append_piece(r, r->rotation.number, FOLDER_DATA, r->rotation.words);
	r->complete = true;
}

static uint64_t size(const struct recorder *r)
{
	return r->out.before + perfdata_size(&r->out.file) + rings_pending(&r->rings);
}

/* Others need the disk, too: the program goes on, untraced. */
static void check_size(struct recorder *r)
{
	if (r->closed || size(r) < r->max_size)
		return;
	append(r, "{\"kind\":\"limit\",\"bytes\":%" PRIu64 "}\n", r->max_size);
	complete(r);
	if (r->out.file.error) /* it is why the rest is missing */
		return;
	progress_clear(&r->progress);
	fprintf(stderr,
		"ocular-record: %s has reached its maximum size, %.1f MB (--max-size): what the program does from here "
		"on is "
		"not recorded\n",
		r->folder.path, r->max_size / 1e6);
}

/* A quarter more than is kept, so that the oldest is dropped now and then and not each time. */
static void keep_last(struct recorder *r)
{
	uint64_t bytes = r->options->keep_last;
	int gone;

	if (!bytes || r->closed || r->keeps_all || perfdata_size(&r->out.file) < bytes + bytes / 4)
		return;
	gone = perfdata_keep(&r->out.file, bytes);
	if (gone > 0 && !r->kept)
		append(r, "{\"kind\":\"limit\",\"kept\":%" PRIu64 "}\n", bytes);
	r->kept |= gone > 0;
	if (gone >= 0)
		return;
	r->keeps_all = true;
	r->max_size = folder_share(&r->folder);
	progress_clear(&r->progress);
	fprintf(stderr, "ocular-record: cannot make holes in %s/" FOLDER_DATA ": %s; ignoring --keep-last\n",
		r->folder.path, strerror(-gone));
}

/* What is in the folder only while it is recorded into. Whoever waits for the end waits for the socket to go. */
static void leave_folder(struct recorder *r)
{
	control_close(&r->control, r->folder.fd);
	socket_remove(r->folder.fd);
	folder_leave(&r->folder);
}

/* The end was requested, though there may still be something to wait for. */
static void end_early(struct recorder *r)
{
	if (!r->complete && r->target.pid && !r->target.ended && r->finisher < 0) {
		progress_clear(&r->progress);
		fprintf(stderr, "ocular-record: ended as asked; what %s does from here on is not recorded\n",
			r->options->command[0]);
	}
	complete(r);
	/* The client may begin another recording in this folder as soon as it has an answer. */
	if (!r->target.pid)
		leave_folder(r);
	if (r->finisher >= 0)
		requests_answer(r, r->finisher, r->out.file.error);
	r->finisher = -1;
}

/* A file's size includes what is still to be written into it. */
static void fill_piece(struct recorder *r)
{
	uint64_t limit = r->options->rotation.bytes;

	if (limit && perfdata_size(&r->out.file) + rings_pending(&r->rings) >= limit)
		rings_flush(&r->rings);
}

/* Processes without a pidfd. */
static void look_after_processes(struct recorder *r)
{
	struct process *next;

	for (struct process *p = r->processes.first; p; p = next) {
		next = p->next;
		if (p->pidfd < 0)
			process_event(r, p->pid);
	}
}

static void tick(struct recorder *r)
{
	uint64_t now = clock_monotonic_ns();
	struct figures f = figures(r);

	if (now >= r->flush_ns) {
		r->flush_ns = now + FLUSH_NS;
		rings_flush(&r->rings);
		recorder_update_clock(r);
		look_after_processes(r);
	}
	check_file(r);
	keep_last(r);
	check_size(r);
	fill_piece(r);
	if (!r->closed && rotation_due(&r->rotation, &r->options->rotation, perfdata_size(&r->out.file), words(r), now))
		switch_output(r);
	progress_show(&r->progress, &f, now);
}

/* Once: that the recording goes on without the program, or ends before all it started have ended. */
static void report_left(struct recorder *r, const uint32_t *pids, size_t n, bool waits)
{
	char names[256];

	if (r->left_reported || !n || (waits && r->options->quiet))
		return;
	r->left_reported = true;
	progress_clear(&r->progress);
	tree_names(pids, n, names, sizeof(names));
	fprintf(stderr, "ocular-record: the program has ended; still running%s: %s%s\n",
		waits ? " and recorded" : ", no longer recorded", names,
		waits ? " (Ctrl-C ends the recording; --until-exit main does not wait)" : "");
}

/* The target has ended: should the rest of its tree be waited for, and is there any? */
static bool is_left_alone(struct recorder *r)
{
	uint32_t pids[LEFT_MOST];
	uint64_t now = clock_monotonic_ns();
	bool waits = !r->complete && !r->options->until_main && !r->interrupts, just;
	size_t n = r->complete ? 0 : tree_joined(&r->processes, pids, LEFT_MOST);

	if (!r->ended_ns)
		r->ended_ns = now;
	just = now - r->ended_ns < JUST_NS;
	if (!r->complete && !n)
		n = tree_beginning(r->folder.path, just && waits, pids, LEFT_MOST);
	if (!waits || !just)
		report_left(r, pids, n, waits);
	return !waits || !n;
}

/* Is there nobody left to record, or was the end requested? */
static bool is_over(struct recorder *r)
{
	if (r->target.pid)
		return r->target.ended ? is_left_alone(r) : r->interrupts > 2;
	if (r->complete || r->interrupts)
		return true;
	if (r->options->tied && r->starter_ended)
		return true;
	return r->processes.seen ? !r->processes.living : r->starter_ended;
}

/* How long to nap after a round in which the fullest ring was this full. */
static uint64_t pace(struct recorder *r, unsigned int fullest)
{
	if (r->rested && fullest > TOO_LONG && r->nap_ns > NAP_LEAST_NS)
		r->nap_ns /= 2;
	else if (r->rested && fullest < TOO_SHORT && r->nap_ns < NAP_NS)
		r->nap_ns *= 2;
	r->rested = fullest <= BUSY;
	return r->rested ? r->nap_ns : 0;
}

/* Takes what there is; returns how long to wait for the next round. */
static uint64_t take_rings(struct recorder *r)
{
	unsigned int fullest;

	if (r->flight.on) {
		flight_round(r);
		return IDLE_NS;
	}
	fullest = rings_drain(&r->rings);
	return r->rings.first || fullest > BUSY ? pace(r, fullest) : IDLE_NS;
}

static void write_table(void *recorder, uint32_t pid, const char *line, size_t length)
{
	flight_append(recorder, pid, line, length);
}

static void complain_of_natives(struct recorder *r, int err)
{
	r->rings.natives.error = err;
	progress_clear(&r->progress);
	fprintf(stderr,
		"ocular-record: cannot sample C functions (--native): perf_event_open: %s%s; recording without\n",
		strerror(-err),
		err == -EACCES || err == -EPERM ? " (see /proc/sys/kernel/perf_event_paranoid; containers forbid it)"
						: "");
}

/* While the target, if there is one, is starting: the first takes as long as a Python does. */
static void look_for_switches(struct recorder *r)
{
	int err = wakeup_open(&r->wakeup);

	r->rings.flight = r->flight.on;
	if (err && r->rings.natives.hz)
		complain_of_natives(r, err);
	if (err)
		return;
	r->rings.clock = &r->clock;
	r->rings.wakeup = &r->wakeup;
}

void recorder_run(struct recorder *r)
{
	look_for_switches(r);
	while (!is_over(r)) {
		uint64_t ns = take_rings(r);

		if (!r->complete)
			tick(r);
		wait_events(r, ns);
		if (r->interrupts >= 2 || r->finisher >= 0)
			end_early(r);
	}
	/* A program's last request: it does not wait for the answer to a snapshot. */
	for (int i = 0; r->flight.on && !r->complete && i < LAST_WORDS; i++)
		if (wait_events(r, 0) <= 0)
			break;
}

/* It was asked to end: all that it wrote is in its rings, which need no closing word. */
static void report_end(const struct recorder *r)
{
	const struct target *t = &r->target;
	char line[64];
	int n;

	if (!t->pid || !t->ended || !WIFSIGNALED(t->status))
		return;
	n = snprintf(line, sizeof(line), "{\"kind\":\"killed\",\"signal\":%d}\n", WTERMSIG(t->status));
	flight_append(r, t->pid, line, n);
}

/* The file is open, whatever becomes of its folder: nobody would miss it. 0; -ENOENT: nothing is left. */
static int check_folder(struct recorder *r)
{
	char path[PATH_MAX + sizeof("/" FOLDER_DATA)];
	struct stat file, there;
	const char *what;

	snprintf(path, sizeof(path), "%s/" FOLDER_DATA, r->folder.path);
	if (fstat(r->out.file.fd, &file) || (file.st_nlink && !stat(path, &there)))
		return 0;
	if (!file.st_nlink)
		what = "was removed while it was recorded: nothing is left of it";
	else if (errno == ENOENT)
		what = "was moved while it was recorded: processes that began since are not in it";
	else
		what = "cannot be opened any more: processes that began since are not in it";
	progress_clear(&r->progress);
	fprintf(stderr, "ocular-record: %s %s\n", path, what);
	return file.st_nlink ? 0 : -ENOENT;
}

int recorder_close(struct recorder *r)
{
	struct figures f;
	int err = check_folder(r);

	complete(r);
	report_end(r);
	check_file(r);
	leave_folder(r);
	while (r->processes.first)
		processes_remove(&r->processes, r->processes.first);
	f = figures(r);
	progress_end(&r->progress, &f);
	wakeup_close(&r->wakeup);
	natives_free(&r->rings.natives);
	rotation_free(&r->rotation);
	return r->out.file.error ?: err;
}

void recorder_cancel(struct recorder *r)
{
	perfdata_close(&r->out.file);
	leave_folder(r);
	unlinkat(r->folder.fd, FOLDER_DATA, 0);
	folder_cancel(&r->folder);
}

static int open_events(struct recorder *r)
{
	int err;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return -errno;
	r->listener = socket_listen(r->folder.fd);
	if (r->listener < 0)
		return r->listener;
	r->signals = inherit_save(&r->inherit);
	if (r->signals < 0)
		return r->signals;
	err = recorder_watch(r, FROM_LISTENER, 0, r->listener);
	err = err ?: recorder_watch(r, FROM_SIGNALS, 0, r->signals);
	if (!err && r->flight.on)
		err = control_open(&r->control, r->folder.fd);
	if (!err && r->flight.on)
		err = recorder_watch(r, FROM_CONTROL, 0, r->control.fd);
	if (!err && r->starter >= 0)
		err = recorder_watch(r, FROM_STARTER, 0, r->starter);
	return err;
}

static int fail(const char *what, const char *dir, int err)
{
	fprintf(stderr, "ocular-record: cannot %s %s: %s\n", what, dir, strerror(-err));
	return err;
}

int recorder_folder(struct folder *f, const char *dir)
{
	int err = folder_create(f, dir);

	const char *why = folder_refusal(err);

	if (why)
		fprintf(stderr, "ocular-record: %s%s\n", dir, why);
	else if (err)
		fprintf(stderr,
			"ocular-record: cannot make the folder %s: %s; choose another folder with -o (output= in "
			"Python)\n",
			dir, strerror(-err));
	return err;
}

int recorder_open(struct recorder *r, const struct options *options, int starter)
{
	int err;

	*r = (struct recorder){ .options = options, .finisher = -1, .starter = starter, .nap_ns = NAP_NS };
	r->rings.out = &r->out;
	r->rings.windows = options->duty_period_ns;
	r->rings.coarse = options->coarse;
	r->rings.natives = (struct natives){ .hz = options->native_hz, .write = write_table, .to = r };
	r->control.fd = -1;
	r->flight = (struct flight){
		.on = options->flight,
		.window_ns = options->flight_ns,
		.most = options->max_snapshots,
	};
	clock_start(&r->clock);
	err = recorder_folder(&r->folder, options->dir);
	if (err)
		return err;
	err = perfdata_create(&r->out.file, r->folder.fd, FOLDER_DATA, PTFRAME_RATIO);
	if (err)
		return fail("write " FOLDER_DATA " in", r->folder.path, err);
	err = open_events(r);
	if (err) {
		recorder_cancel(r);
		return fail("listen in", r->folder.path, err);
	}
	r->max_size = options->max_size ? options->max_size : folder_share(&r->folder);
	r->flush_ns = clock_monotonic_ns() + FLUSH_NS;
	r->rotation.begun_ns = clock_monotonic_ns();
	progress_start(&r->progress, options->quiet, clock_monotonic_ns());
	return 0;
}
