/* SPDX-License-Identifier: MIT */
/* procfs.h - a thread's name. */
#pragma once

#include <stdint.h>

#define PROCFS_COMM 16

/* The thread's name; the process's if the thread is gone already; "?" if both are. */
void procfs_comm(uint32_t pid, uint32_t tid, char comm[PROCFS_COMM]);
