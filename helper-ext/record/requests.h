/* SPDX-License-Identifier: MIT */
/* requests.h - what the recorder does for the clients at its socket. */
#pragma once

#include "state.h"

/* Somebody has connected: the request is awaited like any other event. */
void requests_accept(struct recorder *r);

/* A client has sent its request, or gone. The recorder answers RING_FINISH at the end. */
void requests_serve(struct recorder *r, int client);

/* The process has ended; reads its pending requests. */
void requests_end_process(struct recorder *r, struct process *p);

/* Answers with 0 or a negative errno and closes. */
void requests_answer(struct recorder *r, int client, int err);
