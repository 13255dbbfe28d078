/* SPDX-License-Identifier: MIT */
/*
 * producer.c - a traced program without Python: what it emits is known to the last marker.
 *
 *   producer [-t THREADS] [-n MARKERS] [-f FORKS] [-p NS] [-k] [-s]
 *
 * Each of THREADS threads of 1 + FORKS processes writes HELLO and MARKERS LINE markers whose
 * offsets count from 0, one every NS nanoseconds or as fast as it can. -k: each process ends by
 * SIGKILL instead of finishing its rings; -s: threads run one after another and share one ring.
 * Prints what was dropped. Waits for room as the extension does: as long as the recorder says.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/marker.h"
#include "shared/ring.h"
#include "shared/ticks.h"
#include "ring_write.h"

struct plan {
	int threads, forks;
	long markers, pause_ns;
	bool kill, share;
	struct ring_config config;
};

struct lane {
	struct ring *ring;
	const struct plan *plan;
	uint64_t dropped, head;
	bool gave_up; /* waited once in vain: not again before the recorder has moved */
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int connect_recorder(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int dir = open(getenv("OCULAR_DIR") ?: ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/" RING_SOCKET, dir);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die("connect");
	close(dir);
	return fd;
}

static struct ring_config ask(enum ring_request request, int ring)
{
	struct ring_message m = { RING_MAGIC, RING_VERSION, request, gettid(), 0 };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct ring_config config = { 0 };
	int fd = connect_recorder();

	if (ring >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)control;

		*c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(c), &ring, sizeof(ring));
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
	}
	if (sendmsg(fd, &msg, 0) < 0 || recv(fd, &config, sizeof(config), 0) != sizeof(config))
		die("ask");
	close(fd);
	return config;
}

static struct ring *make_ring(const struct plan *plan)
{
	size_t size = ring_size(plan->config.nrecords);
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ring *r;

	if (fd < 0 || ftruncate(fd, size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		die("memfd");
	r = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (r == MAP_FAILED)
		die("mmap");
	ring_init(r, plan->config.nrecords);
	if (ask(RING_ADD, fd).error)
		atomic_store(&r->closed, 1);
	close(fd);
	return r;
}

static bool has_room(const struct lane *l)
{
	return l->plan->config.flight ||
	       l->head - atomic_load_explicit(&l->ring->tail, memory_order_acquire) < l->ring->nrecords;
}

static bool wait_room(struct lane *l)
{
	struct timespec nap = { 0, 50000 };

	for (long us = 0; us < 1000L * l->plan->config.wait_ms && !l->gave_up; us += 50) {
		if (has_room(l) || atomic_load(&l->ring->closed))
			return has_room(l);
		nanosleep(&nap, NULL);
	}
	l->gave_up = !has_room(l);
	return !l->gave_up;
}

static void store(struct lane *l, uint64_t word)
{
	ring_write(l->ring, ticks_now(), word);
	l->head++;
}

static void put(struct lane *l, uint64_t word)
{
	uint64_t lost = atomic_load_explicit(&l->ring->lost, memory_order_relaxed);

	if (!has_room(l) && !wait_room(l)) {
		atomic_store_explicit(&l->ring->lost, lost + 1, memory_order_relaxed);
		l->dropped++;
		return;
	}
	l->gave_up = false;
	if (lost) { /* takes the room that we have; the word itself is then one more that is lost */
		store(l, marker_lost(0, lost + 1));
		atomic_store_explicit(&l->ring->lost, 0, memory_order_relaxed);
		l->dropped++;
		return;
	}
	store(l, word);
}

static void pause_for(long ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (ns)
		nanosleep(&ts, NULL);
}

/* A thread's whole life; a ring that had another thread before is told so. */
static void *produce(void *arg)
{
	struct lane *l = arg;

	uint64_t before = atomic_exchange(&l->ring->tid, gettid());

	if (l->head)
		store(l, marker_head(OP_RING_THREAD, 0) | before << 32 | gettid());
	atomic_store(&l->ring->hello, ring_hello(l->head, 0));
	put(l, marker_hello(0, 0));
	for (long i = 0; i < l->plan->markers; i++) {
		put(l, marker_event(OP_LINE, 0, 1 + i % 1000, i & MARKER_OFFSET_MAX, 0));
		pause_for(l->plan->pause_ns);
	}
	return NULL;
}

static void *produce_alone(void *arg)
{
	struct lane *l = arg;

	l->ring = make_ring(l->plan);
	return produce(l);
}

static uint64_t run_threads(const struct plan *plan)
{
	struct lane *lanes = calloc(plan->threads, sizeof(*lanes));
	pthread_t *threads = calloc(plan->threads, sizeof(*threads));
	uint64_t dropped = 0;

	lanes[0].plan = plan;
	if (plan->share)
		lanes[0].ring = make_ring(plan);
	for (int i = 0; i < plan->threads; i++) {
		lanes[i].plan = plan;
		pthread_create(&threads[i], NULL, plan->share ? produce : produce_alone,
			       plan->share ? &lanes[0] : &lanes[i]);
		if (plan->share)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < plan->threads && !plan->share; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < plan->threads; i++) {
		dropped += lanes[i].dropped;
		if (!plan->kill && lanes[i].ring)
			atomic_store_explicit(&lanes[i].ring->finished, 1, memory_order_release);
	}
	free(threads);
	free(lanes);
	return dropped;
}

static void run_process(const struct plan *plan)
{
	printf("%d dropped %lu\n", getpid(), run_threads(plan));
	fflush(stdout);
	if (plan->kill)
		raise(SIGKILL);
}

int main(int argc, char **argv)
{
	struct plan plan = { .threads = 1, .markers = 1000 };
	int opt;

	while ((opt = getopt(argc, argv, "t:n:f:p:ks")) != -1) {
		switch (opt) {
		case 't':
			plan.threads = atoi(optarg);
			break;
		case 'n':
			plan.markers = atol(optarg);
			break;
		case 'f':
			plan.forks = atoi(optarg);
			break;
		case 'p':
			plan.pause_ns = atol(optarg);
			break;
		case 'k':
			plan.kill = true;
			break;
		case 's':
			plan.share = true;
			break;
		default:
			return 2;
		}
	}
	plan.config = ask(RING_ASK, -1);
	if (plan.config.error) {
		fprintf(stderr, "recorder: %s\n", strerror(-plan.config.error));
		return EXIT_FAILURE;
	}
	for (int i = 0; i < plan.forks; i++)
		if (fork() == 0) {
			run_process(&plan);
			return 0;
		}
	run_process(&plan);
	while (wait(NULL) > 0)
		;
	return 0;
}
