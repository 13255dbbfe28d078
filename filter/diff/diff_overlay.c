// SPDX-License-Identifier: MIT
#include "diff_overlay.h"

#include <math.h>

#include "base/figure.h"

#define WIDTH	220.0
#define HEIGHT	44.0
#define FOOT	12.0 /* below the axis, for its labels */
#define COLUMNS 44
#define SEEN	1.5 /* height of the lowest column */

/* The axis, in powers of two. */
struct axis {
	double from, until;
};

struct columns {
	double of[COLUMNS]; /* part of all, 0..1 */
	double most;
};

/* By functions that are not newer than the glibc of the wheels: log2() and exp2() are of 2.29. */
static double power(double cycles)
{
	return log10(cycles < 1 ? 1 : cycles) / log10(2);
}

static double cycles_of(double power)
{
	return expm1(power * M_LN2) + 1;
}

static double real(json_t *range, size_t i)
{
	return json_number_value(json_array_get(range, i));
}

static void widen(struct axis *x, double cycles)
{
	x->from = fmin(x->from, power(cycles));
	x->until = fmax(x->until, power(cycles));
}

static void widen_by_ranges(struct axis *x, json_t *ranges, double scale)
{
	size_t i;
	json_t *range;

	json_array_foreach (ranges, i, range) {
		widen(x, real(range, 0) * scale);
		widen(x, real(range, 1) * scale);
	}
}

static void widen_by_spread(struct axis *x, const struct diff_item *item)
{
	widen(x, fmax(item->mean - item->deviation, item->mean / 4));
	widen(x, item->mean + item->deviation);
}

/* What all falls on one place has room on both sides. */
static void pad(struct axis *x)
{
	double more = fmax((1 - (x->until - x->from)) / 2, 0.05);

	x->from -= more;
	x->until += more;
}

static double place(const struct axis *x, double cycles)
{
	return WIDTH * (power(cycles) - x->from) / (x->until - x->from);
}

static struct columns columns_of(const struct axis *x, json_t *ranges, double scale)
{
	struct columns c = { 0 };
	double all = 0;
	size_t i;
	json_t *range;

	json_array_foreach (ranges, i, range)
		all += real(range, 2);
	json_array_foreach (ranges, i, range) {
		double middle = sqrt(fmax(real(range, 0), 1) * fmax(real(range, 1), 1)) * scale;
		int at = fmin(fmax(place(x, middle) / WIDTH * COLUMNS, 0), COLUMNS - 1);

		c.of[at] += all > 0 ? real(range, 2) / all : 0;
		c.most = fmax(c.most, c.of[at]);
	}
	return c;
}

static double height(double part, double most)
{
	return part > 0 && most > 0 ? SEEN + (HEIGHT - FOOT - SEEN) * part / most : 0;
}

static void write_filled(FILE *f, const struct columns *c, double most)
{
	for (int i = 0; i < COLUMNS; i++)
		if (c->of[i] > 0)
			fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", i * WIDTH / COLUMNS,
				HEIGHT - FOOT - height(c->of[i], most), WIDTH / COLUMNS, height(c->of[i], most));
}

static void write_outline(FILE *f, const struct columns *c, double most)
{
	fputs("<path class=a d=\"", f);
	for (int i = 0; i < COLUMNS; i++) {
		double y = HEIGHT - FOOT - height(c->of[i], most);

		fprintf(f, "%c%.1f %.1fH%.1f", i ? 'L' : 'M', i * WIDTH / COLUMNS, y, (i + 1) * WIDTH / COLUMNS);
	}
	fputs("\"/>", f);
}

static void write_spread(FILE *f, const struct axis *x, const struct diff_item *item, char side, double y)
{
	fprintf(f, "<path class=%c d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1f\"/>", side,
		place(x, item->mean - item->deviation), y, place(x, item->mean + item->deviation), place(x, item->mean),
		y - 5, y + 5);
}

static void begin(FILE *f, const struct axis *x, const char *what)
{
	char from[FIGURE], until[FIGURE];

	fprintf(f,
		"<svg class=overlay viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"%s of A and B, cycles from %s to "
		"%s\">",
		WIDTH, HEIGHT, what, figure_brief(from, cycles_of(x->from)), figure_brief(until, cycles_of(x->until)));
	fprintf(f, "<line class=axis x1=\"0\" x2=\"%.0f\" y1=\"%.0f\" y2=\"%.0f\"/>", WIDTH, HEIGHT - FOOT,
		HEIGHT - FOOT);
}

static void end(FILE *f, const struct axis *x)
{
	char from[FIGURE], until[FIGURE];

	fprintf(f, "<text x=\"0\" y=\"%.0f\">%s</text><text x=\"%.0f\" y=\"%.0f\" class=end>%s</text></svg>",
		HEIGHT - 2, figure_brief(from, cycles_of(x->from)), WIDTH, HEIGHT - 2,
		figure_brief(until, cycles_of(x->until)));
}

static void write_distributions(FILE *f, const struct diff_pair *p, double scale)
{
	struct axis x = { INFINITY, 0 };
	struct columns a, b;

	widen_by_ranges(&x, p->a->distribution, 1);
	widen_by_ranges(&x, p->b->distribution, scale);
	pad(&x);
	a = columns_of(&x, p->a->distribution, 1);
	b = columns_of(&x, p->b->distribution, scale);
	begin(f, &x, "distributions");
	write_filled(f, &b, fmax(a.most, b.most));
	write_outline(f, &a, fmax(a.most, b.most));
	end(f, &x);
}

static void write_spreads(FILE *f, const struct diff_pair *p)
{
	struct axis x = { INFINITY, 0 };

	widen_by_spread(&x, p->a);
	widen_by_spread(&x, p->b);
	pad(&x);
	begin(f, &x, "mean and deviation");
	write_spread(f, &x, p->a, 'a', 8);
	write_spread(f, &x, p->b, 'b', 22);
	end(f, &x);
}

void diff_overlay(FILE *f, const struct diff_pair *p, double scale)
{
	if (!p->a || !p->b)
		return;
	if (json_array_size(p->a->distribution) && json_array_size(p->b->distribution))
		write_distributions(f, p, scale);
	else if (p->a->n > 0 && p->b->n > 0)
		write_spreads(f, p);
}
