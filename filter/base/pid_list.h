/* SPDX-License-Identifier: MIT */
/* pid_list.h - some processes, as text: "4711,4712", or all but those: "^4711,4712". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool pid_list_valid(const char *list);

/* list is valid, or NULL: all are in it. A process that is not known is -1, and in no list but a "^". */
bool pid_list_has(const char *list, int32_t pid);
