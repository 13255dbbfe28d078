/* SPDX-License-Identifier: MIT */
/* summary_objects.h - the objects that the summary is made of: docs/summary.md. All: NULL, no memory. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "model/profile.h"

json_t *summary_clock(const struct profile *p);
json_t *summary_trace(const struct profile *p);
json_t *summary_snapshots(const struct profile *p);
json_t *summary_duty(const struct profile *p); /* null: no duty cycle */
/* code NULL: outside of all functions. */
json_t *summary_wait(const struct code *code, enum wait_kind kind, const struct wait_total *total);
json_t *summary_native(const struct code *code, const struct sampled_row *row);
json_t *summary_sampling(const struct profile *p);
json_t *summary_threads(const struct profile *p);
json_t *summary_processes(const struct profile *p);
json_t *summary_events(const struct profile *p);
json_t *summary_event_rates(const struct profile *p);
json_t *summary_losses(const struct profile *p);
json_t *summary_unmatched(const struct profile *p);
json_t *summary_compiled(const struct profile *p);

/* tables: also the opcodes of each. */
json_t *summary_function(const struct profile *p, const struct code *code, bool tables);
json_t *summary_collection(const struct profile *p, unsigned generation);
json_t *summary_import(const struct import *i);
json_t *summary_span(const struct span_total *t);
json_t *summary_greenlet(const struct greenlet_total *g);
json_t *summary_task(const struct profile *p, const struct async_task *t);
json_t *summary_task_group(const struct task_total *t);
json_t *summary_request(const struct request *q);
json_t *summary_request_group(const struct request_total *t);
json_t *summary_lock(const struct lock *l);
json_t *summary_exception(const struct raised *r);
json_t *summary_c_function(const struct profile *p, const struct code *code, bool tables); /* has no tables */
json_t *summary_loop(const struct profile *p, const struct loop *loop, bool tables);
