/* SPDX-License-Identifier: MIT */
/*
 * mapped.h - the memory that a program takes by reading a file that it maps as a whole, as perf does.
 *
 * Pages of a shared mapping that cannot be written are the file's: given back, they come again when they are read.
 */
#pragma once

/* Gives back what this process has of such mappings of the file, by its whole name. Without /proc nothing. */
void mapped_give_back(const char *path);
