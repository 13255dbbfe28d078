/* SPDX-License-Identifier: MIT */
/*
 * bytecode.h - what CPython keeps in a code object: instructions, lines, jump targets, and the
 * opcodes that the specializing adaptive interpreter (PEP 659) put in their place.
 *
 * The opcode numbers differ between versions; Python code passes the tables at start, so nothing is copied from CPython
 * here. Offsets in this file are in code units of 2 bytes.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct opcode_tables {
	uint8_t caches[256];	   /* inline cache units behind a base opcode */
	int8_t jump[256];	   /* +1 forward, -1 backward, 0 no relative jump; base opcodes */
	uint8_t instrumented[256]; /* 1: stands for an instruction that sys.monitoring watches */
	uint8_t extended_arg;
	uint8_t instrumented_line, instrumented_instruction;
	uint8_t call_function_ex; /* f(*args) where sys.monitoring watches it */
};

/* What the calling thread runs at code unit i, below the events for lines and instructions. */
uint8_t bytecode_opcode(const struct opcode_tables *ops, PyCodeObject *code, Py_ssize_t i);

/* [[offset, line, opcode, target], ...] for docs/marker.md. Returns the largest line, or -1. */
long bytecode_instructions(const struct opcode_tables *ops, PyCodeObject *code, struct text *t);

/*
 * [[offset, opcode], ...]: where a copy's adaptive opcode (adaptive.h) is not the base one. Returns how many; -1 if
 * there is no such copy.
 */
long bytecode_specialized(const struct opcode_tables *ops, PyCodeObject *code, Py_ssize_t copy, struct text *t);
