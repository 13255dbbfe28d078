/* SPDX-License-Identifier: MIT */
/* summary_objects.h - the objects that the summary is made of: docs/summary.md. All: NULL, no memory. */
#pragma once

#include <stdbool.h>

#include "base/value.h"
#include "model/profile.h"

struct value *summary_clock(const struct profile *p);
struct value *summary_trace(const struct profile *p);
struct value *summary_snapshots(const struct profile *p);
struct value *summary_duty(const struct profile *p); /* null: no duty cycle */
/* code NULL: outside of all functions. */
struct value *summary_wait(const struct code *code, enum wait_kind kind, const struct wait_total *total);
struct value *summary_native(const struct code *code, const struct sampled_row *row);
struct value *summary_sampling(const struct profile *p);
struct value *summary_threads(const struct profile *p);
struct value *summary_processes(const struct profile *p);
struct value *summary_events(const struct profile *p);
struct value *summary_event_rates(const struct profile *p);
struct value *summary_losses(const struct profile *p);
struct value *summary_unmatched(const struct profile *p);
struct value *summary_compiled(const struct profile *p);

/* tables: also the opcodes of each. */
struct value *summary_function(const struct profile *p, const struct code *code, bool tables);
struct value *summary_collection(const struct profile *p, unsigned generation);
struct value *summary_import(const struct import *i);
struct value *summary_span(const struct span_total *t);
struct value *summary_greenlet(const struct greenlet_total *g);
struct value *summary_task(const struct profile *p, const struct async_task *t);
struct value *summary_task_group(const struct task_total *t);
struct value *summary_request(const struct request *q);
struct value *summary_request_group(const struct request_total *t);
struct value *summary_lock(const struct lock *l);
struct value *summary_exception(const struct raised *r);
struct value *summary_c_function(const struct code *code);
struct value *summary_loop(const struct profile *p, const struct loop *loop, bool tables);
