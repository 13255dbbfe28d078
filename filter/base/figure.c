// SPDX-License-Identifier: MIT
#include "figure.h"

#include <stdio.h>

const char *figure_three(char text[static FIGURE], double n)
{
	static const char units[] = "kMGTPE";
	unsigned unit = 0;

	if (n < 999.5) {
		snprintf(text, FIGURE, "%.0f", n);
		return text;
	}
	for (n /= 1000; n >= 999.5; n /= 1000)
		unit++;
	snprintf(text, FIGURE, "%.*f%c", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, units[unit]);
	return text;
}

const char *figure_brief(char text[static FIGURE], double n)
{
	if (n >= 999999.5)
		return figure_three(text, n);
	snprintf(text, FIGURE, "%.0f", n);
	return text;
}

static const struct {
	uint64_t ns;
	const char *name;
} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };

const char *figure_span(char text[static FIGURE], uint64_t ns)
{
	unsigned i = 0;
	double n;

	while (i < 3 && ns < units[i].ns - units[i + 1].ns / 2)
		i++;
	n = (double)ns / units[i].ns;
	snprintf(text, FIGURE, "%.*f %s", i == 3 ? 0 : n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, units[i].name);
	return text;
}

const char *figure_duration(char text[static FIGURE], uint64_t ns)
{
	unsigned i = 0;

	/* what would round up to 1000 of a unit is shown as 1 of the next */
	while (i < 3 && ns < units[i].ns - units[i + 1].ns / 2000)
		i++;
	snprintf(text, FIGURE, "%.*f %s", i < 3 ? 3 : 0, (double)ns / units[i].ns, units[i].name);
	return text;
}
