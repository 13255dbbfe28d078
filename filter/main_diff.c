// SPDX-License-Identifier: MIT
/*
 * ocular-diff [options] A.json B.json: compares two summaries. Exit 0; 1 when something got slower by
 * more than --fail-over allows; 2 on bad input, with one line on stderr.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/terminal.h"
#include "base/text.h"
#include "diff/diff_out.h"
#include "shared/version.h"

#define USAGE	    "usage: ocular-diff [options] A.json B.json"
#define STATUS_OVER 1
#define STATUS_BAD  2

/* Two calibrations of one clock differ by less than this. */
#define SAME_CLOCK 0.001

struct arguments {
	const char *path[2], *name[2];
	unsigned paths;
	struct diff_report report;
	bool json, markdown;
	const char *html; /* a file; NULL: not asked for */
};

static int fail(const char *why)
{
	fputs("ocular-diff: ", stderr);
	text_plain(stderr, why);
	fputc('\n', stderr);
	return STATUS_BAD;
}

/* "2%" or "2" is 0.02. */
static bool set_part(struct arguments *a, size_t field, const char *value)
{
	char *end;
	double n = strtod(value, &end);

	*(double *)((char *)a + field) = n / 100;
	return *value >= '0' && *value <= '9' && isfinite(n) && (!*end || !strcmp(end, "%"));
}

static bool set_rows(struct arguments *a, size_t field, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	*(unsigned *)((char *)a + field) = n;
	return *value >= '0' && *value <= '9' && !*end && n <= 1000000;
}

static bool set_name(struct arguments *a, size_t field, const char *value)
{
	*(const char **)((char *)a + field) = value;
	return true;
}

static bool set_flag(struct arguments *a, size_t field, const char *value)
{
	(void)value;
	return *(bool *)((char *)a + field) = true;
}

static const struct {
	const char *option;
	bool (*set)(struct arguments *a, size_t field, const char *value);
	size_t field;
	const char *value; /* the value it takes; NULL: none */
	const char *help;
} options[] = {
	{ "--fail-over", set_part, offsetof(struct arguments, report.rules.fail_over), "a percentage",
	  "exit with 1 if something got slower by more than that" },
	{ "--share", set_part, offsetof(struct arguments, report.rules.share), "a percentage",
	  "ignore what takes less than that of the time" },
	{ "--rows", set_rows, offsetof(struct arguments, report.rows), "a number", "rows of a table" },
	{ "--name-a", set_name, offsetof(struct arguments, name[0]), "a name", "name to show for A.json" },
	{ "--name-b", set_name, offsetof(struct arguments, name[1]), "a name", "name to show for B.json" },
	{ "--all", set_flag, offsetof(struct arguments, report.all), NULL, "show what differs within the noise, too" },
	{ "--markdown", set_flag, offsetof(struct arguments, markdown), NULL, "for a comment on a pull request" },
	{ "--html", set_name, offsetof(struct arguments, html), "a file", "a page to look at (docs/diff.md)" },
	{ "--json", set_flag, offsetof(struct arguments, json), NULL, "for programs (docs/diff.md)" },
};

static int help(void)
{
	printf(USAGE "; ocular diff makes these of recordings\n\n");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		printf("  %-12s %-14s %s\n", options[i].option, options[i].value ?: "", options[i].help);
	return EXIT_SUCCESS;
}

/* How many words the option at argv[0] took; 0: it is wrong, and error says why. */
static int take_option(struct arguments *a, char **argv, char *error)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(argv[0], options[i].option))
			continue;
		if (options[i].value && !argv[1])
			break;
		if (options[i].set(a, options[i].field, argv[1]))
			return options[i].value ? 2 : 1;
		snprintf(error, DIFF_ERROR, "%s wants %s, not '%s'", argv[0], options[i].value, argv[1]);
		return 0;
	}
	snprintf(error, DIFF_ERROR, "unknown option, or its value is missing: %s", argv[0]);
	return 0;
}

/* Why not, or NULL: standard output has one form. */
static const char *two_at_once(const struct arguments *a)
{
	if (a->json && a->markdown)
		return "--json or --markdown, not both";
	return a->html && !strcmp(a->html, "-") && (a->json || a->markdown)
		       ? "--html - writes to standard output, and so do --json and --markdown: name a file"
		       : NULL;
}

static bool parse(struct arguments *a, char **argv, char *error)
{
	const char *both;

	while (*argv) {
		int took = 1;

		if (argv[0][0] == '-')
			took = take_option(a, argv, error);
		else if (a->paths < 2)
			a->path[a->paths++] = argv[0];
		else
			a->paths++;
		if (!took)
			return false;
		argv += took;
	}
	both = two_at_once(a);
	snprintf(error, DIFF_ERROR, "%s", both ? both : USAGE);
	return a->paths == 2 && !both;
}

/* Numbers of different clocks, or of runs under different callback loads, cannot be compared. */
static bool comparable(const struct diff_side *a, const struct diff_side *b, char *error)
{
	if (strcmp(a->clock, b->clock))
		snprintf(error, DIFF_ERROR, "cannot compare: their cycles come from different clocks, %s and %s",
			 a->clock, b->clock);
	else if (strcmp(a->mode, b->mode))
		snprintf(error, DIFF_ERROR, "cannot compare: they were recorded in different modes, %s and %s", a->mode,
			 b->mode);
	else if (!a->c_functions != !b->c_functions)
		snprintf(error, DIFF_ERROR,
			 "cannot compare: %s alone was recorded with C functions: record both with --c-calls",
			 a->c_functions ? a->name : b->name);
	else
		return true;
	return false;
}

/* What failed, in one line for a log: "over --fail-over 2%: cycles traced +3.1%, bytecodes +3.0%, 1 loop". */
static void report_over(const struct diff_report *r)
{
	const char *const kinds[DIFF_KINDS] = { [DIFF_LOOPS] = "loop", [DIFF_FUNCTIONS] = "function" };
	const char *before = ":";

	fprintf(stderr, "ocular-diff: over --fail-over %g%%", 100 * r->rules.fail_over);
	for (size_t i = 0; i < DIFF_TOTALS; i++)
		if (r->totals[i].over) {
			fprintf(stderr, "%s %s %+.2f%%", before, r->totals[i].name, 100 * r->totals[i].change);
			before = ",";
		}
	for (int kind = 0; kind < DIFF_KINDS; kind++) {
		size_t n = 0;

		for (size_t i = 0; i < r->diff->n[kind]; i++)
			n += r->diff->pairs[kind][i].over;
		if (n) {
			fprintf(stderr, "%s %zu %s%s", before, n, kinds[kind], n == 1 ? "" : "s");
			before = ",";
		}
	}
	fputc('\n', stderr);
}

static double scale_of(const struct diff_side *a, const struct diff_side *b)
{
	double scale = a->hz > 0 && b->hz > 0 ? a->hz / b->hz : 1;

	return fabs(scale - 1) < SAME_CLOCK ? 1 : scale;
}

/* 0; -ENOMEM; another error and why. */
static int write_html(const char *path, const struct diff_report *r, char *error)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct out out;
	int err = f ? diff_html(f, r) : -ENOMEM;

	if (f && fclose(f))
		err = -ENOMEM;
	err = err ?: out_open(&out, path, error, DIFF_ERROR) ? -EIO : 0;
	if (!err) {
		out_put(&out, text, size);
		err = out_close(&out, error, DIFF_ERROR) ? -EIO : 0;
	}
	free(text);
	return err;
}

/* What standard output gets: with a page nothing, unless it was asked for. */
static int write_stdout(const struct arguments *args, const struct diff_report *r)
{
	int err = 0;

	if (args->json)
		err = diff_json(stdout, r);
	else if (args->markdown)
		err = diff_markdown(stdout, r);
	else if (!args->html)
		diff_text(stdout, r);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -EIO;
	return err;
}

static int report(struct arguments *args, struct diff_side *a, struct diff_side *b, char *error)
{
	struct diff_report *r = &args->report;
	struct diff diff;
	int err;

	if (!comparable(a, b, error))
		return -EINVAL;
	r->rules.exact = !strcmp(a->clock, "emulated");
	r->scale = scale_of(a, b);
	r->cpu = diff_to_cpu(a, b);
	err = diff_compare(&diff, a, b, r->scale, &r->rules);
	r->totals_over = diff_totals(a, b, r->scale, &r->rules, r->totals);
	r->counts = diff_counts(a, b, &r->ncounts);
	err = err ? err : r->counts ? 0 : -ENOMEM;
	r->a = a;
	r->b = b;
	r->diff = &diff;
	snprintf(error, DIFF_ERROR, "no memory");
	if (!err && args->html)
		err = write_html(args->html, r, error);
	if (!err && (err = write_stdout(args, r)) == -EIO)
		snprintf(error, DIFF_ERROR, "cannot write to standard output");
	err = err ? err : diff.over + r->totals_over > 0;
	if (err > 0)
		report_over(r);
	free(r->counts);
	diff_free(&diff);
	return err;
}

int main(int argc, char **argv)
{
	struct arguments args = { .report = { .rules = { .fail_over = -1, .share = 0.01 },
					      .rows = 20,
					      .width = terminal_columns(STDOUT_FILENO) } };
	struct diff_side side[2] = { { 0 } };
	char error[DIFF_ERROR];
	int err;

	if (version_asked(argc, argv, "ocular-diff"))
		return EXIT_SUCCESS;
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return help();
	if (!parse(&args, argv + 1, error))
		return fail(error);
	for (int i = 0; i < 2; i++)
		if (diff_read(&side[i], args.path[i], args.name[i] ?: args.path[i], error))
			return fail(error);
	err = report(&args, &side[0], &side[1], error);
	diff_side_free(&side[0]);
	diff_side_free(&side[1]);
	return err < 0 ? fail(error) : err ? STATUS_OVER : EXIT_SUCCESS;
}
