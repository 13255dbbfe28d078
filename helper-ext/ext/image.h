/* SPDX-License-Identifier: MIT */
/*
 * image.h - the object of this process that the interpreter is in: the program itself, or libpython.
 *
 * It needs only what a stripped file has, too: program headers, and the table for unwinding exceptions, which says
 * where each function begins and ends (.eh_frame_hdr, Linux Standard Base Core, "Exception Frames").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end;
};

#define IMAGE_SEGMENTS 16

struct image {
	const char *name;		   /* path; "" for the program itself; the loader's */
	struct range text[IMAGE_SEGMENTS]; /* executable */
	size_t ntext;
	struct range data[IMAGE_SEGMENTS]; /* readable, including executable ones, as far as in the file */
	size_t ndata;
	const uint8_t *unwind; /* .eh_frame_hdr, or NULL */
	uint64_t entry;	       /* begins to run frames, _PyEval_EvalFrameDefault; 0: not known */
	struct range tls;      /* its thread-local storage, the calling thread's; empty: none, or not known */
	size_t tls_module;     /* number of that for the loader */
};

/* The loaded object that the address is in. False: there is none. */
bool image_of(struct image *image, const void *address);

bool image_is_code(const struct image *image, uint64_t address);

/* The function, or part of one, that contains the address. False: not known. */
bool image_function(const struct image *image, uint64_t address, struct range *function);
