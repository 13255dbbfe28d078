/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - the client's side of the socket.
 *
 * sun_path holds 108 bytes and folders may be deeper, so the address is made from a descriptor of
 * the folder: /proc/self/fd/N/.ocular.sock always fits.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder.h"
#include "shared/own_file.h"

/* patience: maximum seconds to wait for room in the recorder's backlog, and for each message; 0: no limit. */
static int connect_in(int dirfd, int sock, time_t patience)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = patience };
	int err;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", dirfd, RING_SOCKET);
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	do
		err = connect(sock, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	while (err == -EINTR); /* with a limit the kernel does not continue by itself */
	return err;
}

static int open_connection(const char *dir, int flags, time_t patience)
{
	int err, sock, dirfd = own_folder(dir);

	if (dirfd < 0)
		return dirfd;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
	err = sock < 0 ? -errno : connect_in(dirfd, sock, patience);
	close(dirfd);
	if (err && sock >= 0)
		close(sock);
	return err ? err : sock;
}

static int send_message(int sock, struct ring_message *msg, int memfd, const char *text, size_t length)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov[] = { { msg, sizeof(*msg) }, { (void *)text, length } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = length ? 2 : 1 };
	struct cmsghdr *c;

	if (memfd >= 0) {
		mh.msg_control = control.buf;
		mh.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &memfd, sizeof(int));
	}
	return sendmsg(sock, &mh, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_config(int sock, struct ring_config *config)
{
	ssize_t n;

	do
		n = recv(sock, config, sizeof(*config), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(*config) || config->magic != RING_MAGIC || config->version != RING_VERSION)
		return -EPROTO;
	return config->error;
}

static int exchange(const char *dir, struct ring_message *msg, int memfd, time_t patience, struct ring_config *config)
{
	int err, sock = open_connection(dir, 0, patience);

	if (sock < 0)
		return sock;
	err = send_message(sock, msg, memfd, NULL, 0);
	err = err ?: receive_config(sock, config);
	close(sock);
	return err;
}

int recorder_ask(const char *dir, struct ring_config *config)
{
	struct ring_message msg = { RING_MAGIC, RING_VERSION, RING_ASK, 0, 0 };
	int err = exchange(dir, &msg, -1, RECORDER_PATIENCE_S, config);
	uint32_t n = config->nrecords;

	if (!err && (n < RING_RECORDS_MIN || n > RING_RECORDS_MAX || n & (n - 1)))
		return -EPROTO;
	return err;
}

int recorder_add(const char *dir, uint32_t tid, int memfd)
{
	struct ring_message msg = { RING_MAGIC, RING_VERSION, RING_ADD, tid, 0 };
	struct ring_config config;

	return exchange(dir, &msg, memfd, RECORDER_PATIENCE_S, &config);
}

int recorder_meet(const char *dir, uint32_t tid)
{
	struct ring_message msg = { RING_MAGIC, RING_VERSION, RING_MEET, tid, 0 };
	struct ring_config config;

	return exchange(dir, &msg, -1, RECORDER_PATIENCE_S, &config);
}

int recorder_snapshot(const char *dir, uint64_t tsc, const char *text, size_t length)
{
	struct ring_message msg = { RING_MAGIC, RING_VERSION, RING_SNAPSHOT, (uint32_t)syscall(SYS_gettid), tsc };
	int err, sock = open_connection(dir, SOCK_NONBLOCK, 0);

	if (sock < 0)
		return sock;
	err = send_message(sock, &msg, -1, text, length < RING_TEXT_MAX ? length : RING_TEXT_MAX);
	close(sock);
	return err;
}

int recorder_finish(const char *dir)
{
	struct ring_message msg = { RING_MAGIC, RING_VERSION, RING_FINISH, 0, 0 };
	struct ring_config config;

	return exchange(dir, &msg, -1, 0, &config);
}
