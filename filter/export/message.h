/* SPDX-License-Identifier: MIT */
/*
 * message.h - protobuf messages of any size, in memory: proto.h writes where there is room already.
 *
 * The first lack of memory sticks, and what is written after it goes nowhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty. */
struct message {
	char *bytes;
	size_t n, size;
	bool no_memory;
};

void message_number(struct message *m, unsigned field, uint64_t n);
void message_fixed64(struct message *m, unsigned field, uint64_t n);
void message_text(struct message *m, unsigned field, const char *text);

void message_bytes(struct message *m, unsigned field, const void *bytes, size_t n);

/* A message in it, or a packed list: what is written between both. They nest; `at` is what opening it returned. */
size_t message_open(struct message *m, unsigned field);
void message_close(struct message *m, size_t at);

/* An element of a packed list. */
void message_element(struct message *m, uint64_t n);

/* Empties it. */
void message_free(struct message *m);
