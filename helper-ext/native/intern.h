/* SPDX-License-Identifier: MIT */
/* intern.h - numbers for different sequences of bytes, in order of their first appearance, from 1 on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	struct interned *slots; /* `room` of them, a power of two, never full */
	uint32_t n, room;
};

/* The bytes' number; *new: they were not there before. 0: no memory. */
uint32_t intern(struct intern *t, const void *bytes, size_t size, bool *new);
void intern_free(struct intern *t);
