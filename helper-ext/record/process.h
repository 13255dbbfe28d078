/* SPDX-License-Identifier: MIT */
/*
 * process.h - the processes that write into rings.
 *
 * Each has a pidfd: it becomes readable when the process ends, however it ends, and a reused pid is not mistaken for
 * the old one. Without pidfds (seccomp; no descriptor is left), the pid is checked now and then.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process {
	struct process *next;
	uint32_t pid;
	int pidfd; /* -1: it had ended before, or there is none to be had */
	bool ended;
	uint8_t noticed; /* how often its end was put off for its pending requests */
};

struct processes {
	struct process *first;
	uint32_t living;
	uint32_t seen;
};

/* A pidfd, or -1: there is no such process. */
int process_open(uint32_t pid);

struct process *processes_find(const struct processes *ps, uint32_t pid);

/* A new process; NULL if there is no memory. */
struct process *processes_add(struct processes *ps, uint32_t pid);

void processes_remove(struct processes *ps, struct process *p);

bool process_ended(struct process *p);
