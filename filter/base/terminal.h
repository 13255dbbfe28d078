/* SPDX-License-Identifier: MIT */
/* terminal.h - how wide what is written will be shown. */
#pragma once

/* $COLUMNS, or what the terminal says; 0 if it is none. */
unsigned terminal_columns(int fd);
