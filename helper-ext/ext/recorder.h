/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - talk to ocular-record over the socket in the recording's folder (ring.h).
 *
 * One connection for each request, so that no descriptor stays open in the traced process. All return 0 or a negative
 * errno: -ENOENT, -ECONNREFUSED no recorder; -EPROTO another version, or nonsense; -EAGAIN no connection within
 * RECORDER_PATIENCE_S, or then no answer; else the recorder's own error.
 */
#pragma once

#include "shared/ring.h"

#define RECORDER_PATIENCE_S 10

/* The process starts tracing; *config is the answer. */
int recorder_ask(const char *dir, struct ring_config *config);

/* A new ring for thread tid; memfd stays the caller's. */
int recorder_add(const char *dir, uint32_t tid, int memfd);

/* Thread tid takes over a ring of an ended one. */
int recorder_meet(const char *dir, uint32_t tid);

/*
 * Flight mode: something happened at `tsc`. text: members of a JSON object that describe it, cut at RING_TEXT_MAX. Does
 * not wait for the recorder: -EAGAIN if its queue is full.
 */
int recorder_snapshot(const char *dir, uint64_t tsc, const char *text, size_t length);

/* End the recording; returns when perf.data is complete, however long that takes. */
int recorder_finish(const char *dir);
