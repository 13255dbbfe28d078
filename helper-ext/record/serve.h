/* SPDX-License-Identifier: MIT */
/* serve.h - a recorder in the background, in a session of its own. */
#pragma once

/*
 * Continues in the background; the foreground waits for serve_ready() and ends with its status. Returns the descriptor
 * to report to, or a negative errno.
 */
int serve_detach(void);

/* Ends the foreground with this status, and closes what was its. */
void serve_ready(int report, int status);
