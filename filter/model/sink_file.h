/* SPDX-License-Identifier: MIT */
/*
 * sink_file.h - what all sinks that write one file have in common: opened by the maker, whole or not
 * there at the end (out.h), and why in sink.error when it failed.
 *
 * Such a sink embeds struct sink_file as its first member.
 */
#ifndef OCULAR_SINK_FILE_H
#define OCULAR_SINK_FILE_H

#include <stdio.h>

#include "base/out.h"
#include "sink.h"

struct sink_file {
	struct sink sink;
	struct out out;
};

/*
 * Makes a zeroed sink of `size` bytes that writes to o->path. For use in a sink_maker, and with its
 * results.
 */
int sink_file_open(struct sink **out, size_t size, const struct sink_ops *ops, const struct sink_options *o,
		   char *error);

/* 0, or the first error of writing, told. */
int sink_file_status(struct sink *s);

/* Returns -ENOMEM, told as "no memory for PATH". */
int sink_file_no_memory(struct sink *s);

/* Writes what `render` prints: for texts too odd to measure beforehand. 0 or a negative errno, told. */
int sink_file_render(struct sink *s, int (*render)(FILE *f, struct sink *s, const struct profile *p),
		     const struct profile *p);

/* The file is whole. 0 or a negative errno, told. */
int sink_file_close(struct sink *s);

/* sink_ops.free of a sink that owns nothing else; others call it last. */
void sink_file_free(struct sink *s);

#endif
