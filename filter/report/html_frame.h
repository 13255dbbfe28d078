/* SPDX-License-Identifier: MIT */
/* html_frame.h - what every page begins and ends with: its policy, style and script. */
#pragma once

#include <stdio.h>

/* Up to <main>. No script but the page's own may run, and nothing be fetched, in case a name gets past html_text(). */
void html_begin(FILE *f);

/* From the footer on. */
void html_end(FILE *f);
