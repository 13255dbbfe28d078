/* SPDX-License-Identifier: MIT */
/* socket.c - SOCK_SEQPACKET, credentials and descriptors. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket.h"

#define BACKLOG	  128
#define ENDING_MS 1000

/* sun_path holds 108 bytes, so the folder is addressed by its descriptor. */
static struct sockaddr_un address(int dirfd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/" RING_SOCKET, dirfd);
	return addr;
}

int socket_listen(int dirfd)
{
	struct sockaddr_un addr = address(dirfd);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	/* A socket gets the mode of its descriptor. */
	if (fchmod(fd, 0600) == 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void socket_remove(int dirfd)
{
	unlinkat(dirfd, RING_SOCKET, 0);
}

bool socket_is_heard(int dirfd)
{
	struct sockaddr_un addr = address(dirfd);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd end = { .fd = fd };
	bool heard = false;

	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		heard = poll(&end, 1, ENDING_MS) < 1;
	else
		heard = errno == EAGAIN; /* BACKLOG is exceeded */
	close(fd);
	return heard;
}

int socket_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int check_peer(int client, uint32_t *pid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	*pid = cred.pid;
	return cred.uid == geteuid() || cred.uid == 0 ? 0 : -EACCES;
}

/* The first descriptor in the control messages; any others are closed. */
static int take_fd(struct msghdr *msg)
{
	int fds[CMSG_SPACE(sizeof(int)) / sizeof(int)], n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	for (int i = 1; i < n; i++)
		close(fds[i]);
	return n ? fds[0] : -1;
}

static int check_message(const struct ring_message *m)
{
	if (m->magic != RING_MAGIC || m->version != RING_VERSION)
		return -EPROTO;
	return m->request >= RING_ASK && m->request <= RING_MEET ? 0 : -EPROTO;
}

/* Only a snapshot has text, and it must not break the one line of JSON that it is pasted into. */
static int check_text(const struct request *rq, size_t length)
{
	if ((length > 0) != (rq->message.request == RING_SNAPSHOT))
		return -EPROTO;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)rq->text[i] < ' ')
			return -EPROTO;
	return 0;
}

int socket_receive(int client, struct request *rq)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov[] = { { &rq->message, sizeof(rq->message) }, { rq->text, sizeof(rq->text) - 1 } };
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(client, &msg, MSG_CMSG_CLOEXEC);
	int err;

	rq->fd = n < 0 ? -1 : take_fd(&msg);
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ECONNRESET;
	if (n < (ssize_t)sizeof(rq->message) || msg.msg_flags & MSG_TRUNC)
		return -EPROTO;
	rq->text[n - sizeof(rq->message)] = '\0';
	err = check_peer(client, &rq->pid);
	err = err ?: check_message(&rq->message);
	err = err ?: check_text(rq, n - sizeof(rq->message));
	if (!err && rq->message.request == RING_ADD && rq->fd < 0)
		err = msg.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
	return err;
}

void socket_answer(int client, const struct ring_config *config)
{
	/* A sender that does not wait for the answer does not need it. */
	(void)!send(client, config, sizeof(*config), MSG_NOSIGNAL | MSG_DONTWAIT);
}
