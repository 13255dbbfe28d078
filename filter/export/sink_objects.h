/* SPDX-License-Identifier: MIT */
/*
 * sink_objects.h - a line for each generator, coroutine and asynchronous generator: how long it ran, waited and lived.
 *
 * The format is docs/exports.md, "Generators and coroutines, one by one".
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path. */
int sink_objects_open(struct sink **out, const struct sink_options *o, char *error);
