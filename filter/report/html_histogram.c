// SPDX-License-Identifier: MIT
/*
 * A distribution as an inline SVG. Columns are the buckets of stat.h, which grow with the value, so that the axis is
 * logarithmic; if there are too many, neighbours share one. A column that is not empty is always visible: uncommon long
 * trips are what one looks for.
 */
#include <inttypes.h>

#include "base/figure.h"
#include "html.h"

#define WIDTH	     480.0
#define HEIGHT	     112.0
#define FOOT	     18.0 /* below the axis, for its labels */
#define COLUMNS_MOST 80
#define SEEN	     2.0 /* height of the lowest column */

struct column {
	uint64_t low, high, n;
};

struct histogram {
	struct column columns[COLUMNS_MOST];
	unsigned first, per; /* bucket of the first column; buckets in each */
	unsigned used;
	uint64_t most;
};

static void add(struct histogram *h, const struct stat_range *r)
{
	unsigned at = (stat_bucket(r->low) - h->first) / h->per;
	struct column *c = &h->columns[at];

	if (!c->n)
		c->low = r->low;
	c->high = r->high;
	c->n += r->n;
	if (c->n > h->most)
		h->most = c->n;
	if (at >= h->used)
		h->used = at + 1;
}

static struct histogram histogram_of(const struct stat_sum *s)
{
	struct histogram h = { .first = stat_bucket(s->min) };
	struct stat_range r;

	h.per = (stat_bucket(s->max) - h.first) / COLUMNS_MOST + 1;
	for (unsigned next = 0; (next = stat_next(s, next, &r));)
		add(&h, &r);
	return h;
}

static void write_columns(FILE *f, const struct histogram *h, const char *what)
{
	double width = WIDTH / (h->used > 8 ? h->used : 8);

	for (unsigned i = 0; i < h->used; i++) {
		const struct column *c = &h->columns[i];
		double height = SEEN + (HEIGHT - FOOT - SEEN) * c->n / h->most;

		if (!c->n)
			continue;
		fprintf(f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>", i * width,
			HEIGHT - FOOT - height, width * 0.9, height);
		if (c->low == c->high)
			fprintf(f, "%" PRIu64, c->low);
		else
			fprintf(f, "%" PRIu64 " to %" PRIu64, c->low, c->high);
		fprintf(f, ": %" PRIu64 " %s</title></rect>", c->n, what);
	}
}

/* A line at the column of the value. */
static void write_mark(FILE *f, const struct histogram *h, uint64_t value, const char *kind)
{
	double width = WIDTH / (h->used > 8 ? h->used : 8);
	unsigned i = 0;

	while (i + 1 < h->used && (!h->columns[i].n || h->columns[i].high < value))
		i++;
	fprintf(f, "<line class=%s x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%.2f\"/>", kind, (i + 0.45) * width,
		(i + 0.45) * width, HEIGHT - FOOT);
}

void html_histogram(FILE *f, const struct stat_sum *s, const char *what)
{
	struct histogram h = histogram_of(s);
	char text[FIGURE];

	if (!s->n)
		return;
	fprintf(f,
		"<svg viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"distribution\">"
		"<line class=axis x1=\"0\" x2=\"%.0f\" y1=\"%.0f\" y2=\"%.0f\"/>",
		WIDTH, HEIGHT, WIDTH, HEIGHT - FOOT, HEIGHT - FOOT);
	write_columns(f, &h, what);
	write_mark(f, &h, stat_quantile(s, 0.5), "median");
	write_mark(f, &h, stat_quantile(s, 0.99), "p99");
	fprintf(f, "<text x=\"0\" y=\"%.0f\">%s</text>", HEIGHT - 4, figure_brief(text, s->min));
	if (s->max != s->min)
		fprintf(f, "<text x=\"%.0f\" y=\"%.0f\" class=end>%s</text>", WIDTH, HEIGHT - 4,
			figure_brief(text, s->max));
	fputs("</svg>", f);
}
