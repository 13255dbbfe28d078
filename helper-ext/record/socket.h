/* SPDX-License-Identifier: MIT */
/*
 * socket.h - where traced processes announce themselves (shared/ring.h).
 *
 * One request, one answer, one connection. Only processes of our own user and root are accepted. Every function returns
 * a descriptor or 0, or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/ring.h"

struct request {
	struct ring_message message;
	uint32_t pid;		      /* from the kernel, not from the sender */
	int fd;			      /* received with it, or -1; the receiver must close it */
	char text[RING_TEXT_MAX + 1]; /* RING_SNAPSHOT: printable, ends with 0 */
};

/* Listens at RING_SOCKET in the folder, whose path may be of any length. */
int socket_listen(int dirfd);
void socket_remove(int dirfd);

int socket_accept(int listener);

/*
 * Does somebody listen at RING_SOCKET in this folder? A socket whose recorder has died does not count; a recorder that
 * is just ending is awaited for a second. The listener only sees a client that closes without a request.
 */
bool socket_is_heard(int dirfd);

/* -ECONNRESET: it has closed; -EACCES: another user's; -EPROTO: not a request; -EMFILE: no descriptor for its ring. */
int socket_receive(int client, struct request *rq);

void socket_answer(int client, const struct ring_config *config);
