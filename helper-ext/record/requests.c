/* SPDX-License-Identifier: MIT */
/* requests.c - a process joins, announces a ring, or requests the end (shared/ring.h). */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "flight.h"
#include "requests.h"
#include "socket.h"

void requests_end_process(struct recorder *r, struct process *p)
{
	if (r->flight.on)
		flight_process_ended(r, p->pid);
	else
		rings_end_process(&r->rings, p->pid);
	natives_forget(&r->rings.natives, p->pid);
	rotation_ended(&r->rotation, p->pid);
	processes_remove(&r->processes, p);
}

/* The process that sent a request, added if new; NULL if there is no memory. */
static struct process *meet_process(struct recorder *r, uint32_t pid)
{
	struct process *p = processes_find(&r->processes, pid);

	if (p && process_ended(p)) { /* its pid was reused */
		requests_end_process(r, p);
		p = NULL;
	}
	if (p)
		return p;
	p = processes_add(&r->processes, pid);
	rotation_met(&r->rotation, pid);
	if (p && p->pidfd >= 0)
		recorder_watch(r, FROM_PROCESS, pid, p->pidfd);
	return p;
}

static int take_snapshot(struct recorder *r, const struct request *rq)
{
	const struct trigger t = {
		.members = rq->text,
		.pid = rq->pid,
		.tid = rq->message.tid,
		.tsc = rq->message.tsc,
	};

	return r->flight.on && !r->closed ? flight_take(r, &t) : -ESHUTDOWN;
}

/*
 * When the file has an error, a process that is recorded may still add the rings of its new threads: they count what is
 * not written.
 */
static int take_when_closed(struct recorder *r, const struct request *rq)
{
	int err = r->out.file.error ? r->out.file.error : -ESHUTDOWN;

	if (rq->message.request != RING_ADD || !r->out.file.error || r->complete || r->flight.on ||
	    !processes_find(&r->processes, rq->pid))
		return err;
	err = rings_add(&r->rings, rq->fd, rq->pid, rq->message.tid);
	rings_close(&r->rings, RING_FAILED);
	return err;
}

static int take_request(struct recorder *r, const struct request *rq)
{
	struct process *p;
	int err = 0;

	if (rq->message.request == RING_FINISH)
		return 0;
	if (rq->message.request == RING_SNAPSHOT)
		return take_snapshot(r, rq);
	if (r->closed)
		return take_when_closed(r, rq);
	p = meet_process(r, rq->pid);
	if (!p)
		return -ENOMEM;
	if (rq->message.request == RING_MEET)
		rings_meet(&r->rings, rq->pid, rq->message.tid);
	if (rq->message.request == RING_ADD)
		err = rings_add(&r->rings, rq->fd, rq->pid, rq->message.tid);
	if (process_ended(p))
		requests_end_process(r, p);
	else if (r->flight.on)
		flight_meet(r, rq->pid);
	return err;
}

void requests_answer(struct recorder *r, int client, int err)
{
	struct ring_config config = {
		.magic = RING_MAGIC,
		.version = RING_VERSION,
		.error = err,
		.nrecords = r->options->ring_records,
		.wait_ms = r->options->wait_ms,
		.recorder_pid = getpid(),
		.flight = r->flight.on,
		.meet = r->rings.clock != NULL,
		.coarse = r->options->coarse ? RING_COARSE : 0,
		.duty = {
			.window_ns = r->options->duty_window_ns,
			.period_ns = r->options->duty_period_ns,
		},
	};

	if (!r->duty_start_ns) /* so that the first window is at the beginning of the program */
		r->duty_start_ns = clock_monotonic_ns();
	config.duty.start_ns = r->duty_start_ns;
	recorder_update_clock(r);
	config.tsc_hz = clock_hz(&r->clock);
	socket_answer(client, &config);
	close(client);
}

void requests_serve(struct recorder *r, int client)
{
	struct request rq;
	int err = socket_receive(client, &rq);

	if (err == -EAGAIN)
		return;
	err = err ?: take_request(r, &rq);
	if (rq.fd >= 0)
		close(rq.fd);
	if (!err && rq.message.request == RING_FINISH && r->finisher < 0) {
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, client, NULL);
		r->finisher = client;
		return;
	}
	if (err == -ECONNRESET)
		close(client);
	else
		requests_answer(r, client, err);
}

void requests_accept(struct recorder *r)
{
	int client;

	/* All of them: the end of a process is handled two rounds after it is noticed. */
	while ((client = socket_accept(r->listener)) >= 0)
		if (recorder_watch(r, FROM_CLIENT, client, client) < 0)
			close(client);
}
