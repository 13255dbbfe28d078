/* SPDX-License-Identifier: MIT */
/*
 * control.h - a FIFO in the recording's folder that takes orders, one a line:
 *
 *   snapshot [LABEL]   take a snapshot
 *   stop               end the recording (not the program)
 *
 * Mode 0600 in a folder of mode 0700: only the user who records can write. Orders are not answered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_FIFO  ".ocular.ctl"
#define CONTROL_LABEL 100 /* bytes of a label; longer ones are cut */

enum order { ORDER_NONE, ORDER_SNAPSHOT, ORDER_STOP, ORDER_UNKNOWN };

struct control {
	int fd;
	char text[512]; /* read and not yet carried out */
	size_t used;
	bool within; /* from a line that was too long: what follows is not a new order */
};

/* Makes the FIFO in the folder and opens it. 0 or a negative errno. */
int control_open(struct control *c, int dirfd);

/* The next order; ORDER_NONE: there is no complete line. label: of a snapshot, as inside JSON quotes. */
enum order control_next(struct control *c, char label[static CONTROL_LABEL + 1]);

void control_close(struct control *c, int dirfd);
