/* SPDX-License-Identifier: MIT */
/*
 * sink_file.h - what all sinks that write one file have in common: the maker opens it, at the end it is complete or
 * absent (out.h), and sink.error says why it failed.
 *
 * Such a sink embeds struct sink_file as its first member.
 */
#pragma once

#include <stdio.h>

#include "base/out.h"
#include "sink.h"

struct sink_file {
	struct sink sink;
	struct out out;
};

/* Makes a zeroed sink of `size` bytes that writes to o->path. For use in a sink_maker, with the same results. */
int sink_file_open(struct sink **out, size_t size, const struct sink_ops *ops, const struct sink_options *o,
		   char *error);

/* A sink_ops.part for sinks of `size` bytes: zeroed, with the same callbacks and without a file. */
int sink_file_part(struct sink **out, size_t size, const struct sink *of);

/* 0, or the first error of writing, its text set. */
int sink_file_status(struct sink *s);

/* Returns -ENOMEM and sets the error "no memory for PATH". */
int sink_file_no_memory(struct sink *s);

/* The file is complete. 0 or a negative errno, its text set. */
int sink_file_close(struct sink *s);

/* A sink_ops.finish, for texts whose length is hard to know before: writes what sink_ops.render prints, and closes. */
int sink_file_finish(struct sink *s, const struct profile *p);

/* sink_ops.free of a sink that owns nothing else; other sinks call it last. */
void sink_file_free(struct sink *s);
