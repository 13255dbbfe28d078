// SPDX-License-Identifier: MIT
/* The hottest loops: a table, and details of the first ones, with source above its bytecode. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model/body.h"
#include "html.h"
#include "html_page.h"
#include "report.h"
#include "code/specialization.h"

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct summed *sum = &((const struct summed *)of)[i];
	const struct loop *loop = sum->loop;
	const struct stat_sum *s = &sum->cycles;
	const struct report r = { .p = page->p };
	const double timed[] = { stat_mean(s), stat_quantile(s, 0.5), stat_quantile(s, 0.99), s->min, s->max };
	FILE *f = page->f;

	fputs("<tr>", f);
	html_share(f, report_share(&r, sum));
	html_share(f, report_total_share(&r, sum));
	if (profile_has_cpu(page->p))
		html_duration(f, sum->off.waiting_ns);
	html_number(f, sum->n);
	html_number(f, loop->entries);
	if (s->n)
		html_duration(f, report_trip_ns(&r, sum));
	else
		html_dash(f);
	for (size_t j = 0; j < sizeof(timed) / sizeof(timed[0]); j++)
		if (s->n)
			html_number(f, timed[j]);
		else
			html_dash(f);
	fputs("<td>", f);
	page_link(page, sum, "loop", i, PAGE_BODIES);
	fputs("</td></tr>\n", f);
}

/* The source line of the instructions below it, where it changes. */
static void write_line(struct page *page, const struct loop *loop, int32_t line)
{
	const struct source *source = sources_get(&page->sources, loop->code->file, loop->code->process->realtime_ns);
	const char *text = source ? source_line(source, line) : NULL;

	if (line <= 0)
		return;
	fprintf(page->f, "<tr class=line><td class=n>%d</td><td colspan=3><code>", line);
	if (text)
		html_source(page->f, text, PAGE_LINE);
	fputs("</code></td></tr>\n", page->f);
}

static void write_bar(FILE *f, double cycles, double most, const char *behind)
{
	fprintf(f, "<td class=share style=\"--part:%.1f%%\">~%.0f%s</td>", most > 0 ? 100 * cycles / most : 0, cycles,
		behind);
}

static bool is_timed(const struct body_row *row)
{
	return row->block && row->block->cycles.n;
}

/* A block has one bar, at its first instruction. */
static void write_cycles(FILE *f, const struct body_row *row, double most)
{
	char behind[48];

	snprintf(behind, sizeof(behind), " a trip: block %u", row->block_number);
	if (row->known)
		write_bar(f, row->cycles, most, "");
	else if (is_timed(row) && row->first_of_block)
		write_bar(f, body_block_cycles(row->block), most, behind);
	else if (is_timed(row))
		fprintf(f, "<td class=n>block %u</td>", row->block_number);
	else
		fprintf(f, "<td class=n>%s</td>", row->measured ? "no event" : "not timed");
}

static void write_instruction(struct page *page, const struct loop *loop, const struct body_row *row, double most)
{
	const struct process *p = loop->code->process;

	fprintf(page->f, "<tr><td class=n>%u</td><td><code>", row->instr->offset);
	html_text(page->f, process_opname(p, row->instr->base));
	fputs("</code></td><td>", page->f);
	if (row->instr->adaptive != row->instr->base) {
		fputs("<code class=special>", page->f);
		html_text(page->f, process_opname(p, row->instr->adaptive));
		fputs("</code>", page->f);
	}
	fputs("</td>", page->f);
	write_cycles(page->f, row, most);
	fputs("</tr>\n", page->f);
}

static double hottest(const struct body_row *rows, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double cycles = rows[i].known	     ? rows[i].cycles
				: is_timed(&rows[i]) ? body_block_cycles(rows[i].block)
						     : 0;

		most = cycles > most ? cycles : most;
	}
	return most;
}

static void write_legend(struct page *page, const struct loop *loop, const struct body_row *rows)
{
	if (rows->measured && !profile_instrumented(page->p))
		fprintf(page->f,
			"<p class=note>Cycles run to the thread's next instruction, through calls. Nothing was "
			"instrumented for it%s.</p>\n",
			profile_specializes(page->p) ? ": specialization was left on" : "");
	else if (rows->measured)
		fputs("<p class=note>Cycles run to the thread's next instruction, one callback included. "
		      "Base opcodes ran: INSTRUCTION events prevent specialization.</p>\n",
		      page->f);
	else
		fputs("<p class=note>Blocks were timed as a whole, with their calls and without inner loops; no "
		      "instruction was.</p>\n",
		      page->f);
	if (!rows->measured && !specialization_known(loop->code))
		fputs("<p class=note>Specialized opcodes are not known: they are read at an orderly "
		      "stop.</p>\n",
		      page->f);
}

static int write_listing(struct page *page, const struct loop *loop)
{
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_rows(loop, rows, loop->code->ninstrs) : 0;
	double most = hottest(rows, n);
	int32_t line = 0;

	if (!rows)
		return -ENOMEM;
	if (!n)
		fputs("<p class=note>Its bytecode is in no code table.</p>\n", page->f);
	else
		fputs("<table class=listing>\n<thead><tr><th>offset</th><th class=t>base</th>"
		      "<th class=t>specialized</th><th>cycles</th></tr></thead>\n<tbody>\n",
		      page->f);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].instr->line != line)
			write_line(page, loop, line = rows[i].instr->line);
		write_instruction(page, loop, &rows[i], most);
	}
	if (n) {
		fputs("</tbody>\n</table>\n", page->f);
		write_legend(page, loop, rows);
	}
	free(rows);
	return 0;
}

static void write_figure(FILE *f, const struct stat_sum *s, const char *what, const char *title)
{
	fputs("<figure>\n", f);
	html_histogram(f, s, what);
	fprintf(f,
		"\n<figcaption>%s, logarithmic: mean %.1f &plusmn; %.1f, "
		"<b class=median>median %" PRIu64 "</b>, <b class=p99>99 %% within %" PRIu64
		"</b></figcaption>\n</figure>\n",
		title, stat_mean(s), spread_deviation(&s->spread), stat_quantile(s, 0.5), stat_quantile(s, 0.99));
}

/* How long trips took, and how many there were per entry. */
static void write_distributions(struct page *page, const struct loop *loop)
{
	const struct stat_sum *cycles = &loop->cycles, *trips = &loop->trips;
	FILE *f = page->f;

	fprintf(f, "<p class=note>%" PRIu64 " of %" PRIu64 " trips timed", cycles->n, loop->iterations);
	if (loop->uops)
		fprintf(f, "; %.1f bytecodes a trip", (double)loop->uops / cycles->n);
	if (page->p->coarse)
		fputs("; times are interpolated, so of short trips only the mean holds", f);
	fprintf(f, "; %" PRIu64 " of %" PRIu64 " entries seen to end.</p>\n<div class=pair>\n", trips->n,
		loop->entries);
	if (cycles->n)
		write_figure(f, cycles, "trips", "cycles of a trip");
	if (trips->n)
		write_figure(f, trips, "entries", "trips of an entry");
	fputs("</div>\n", f);
}

static int write_body(struct page *page, const struct summed *sum, size_t number)
{
	const struct report r = { .p = page->p };
	const struct loop *loop = sum->loop;
	double share = report_share(&r, sum);
	bool open = number == 1 || (number <= 3 && share >= 0.01);
	int err;

	fprintf(page->f, "<details class=loop id=loop%zu%s>\n<summary><span class=rank>%.1f%%</span> ", number,
		open ? " open" : "", 100 * share);
	page_place(page, loop->code, loop->line);
	fputs("</summary>\n", page->f);
	page_details(page, sum);
	write_distributions(page, loop);
	err = write_listing(page, loop);
	fputs("</details>\n", page->f);
	return err;
}

#define LOOP_HEAD(times, sure) \
	"<th>own share</th><th>total share</th>" times \
	"<th>trips</th><th>entries</th><th>mean time</th><th>cycles: mean</th><th>" sure "median</th>" \
	"<th>" sure "p99</th><th>" sure "min</th><th>" sure "max</th><th class=t>loop</th>"

/* Of single trips, unless the time was read for each marker, figures are not sure. */
static const char *loop_head(const struct profile *p)
{
	static const char *const heads[2][2] = {
		{ LOOP_HEAD("", ""), LOOP_HEAD("", "~") },
		{ LOOP_HEAD("<th>total wait</th>", ""), LOOP_HEAD("<th>total wait</th>", "~") },
	};

	return heads[profile_has_cpu(p)][p->coarse != 0];
}

static int write_loops(struct page *page, const struct page_list *list)
{
	const struct summed *all = list->all;
	const size_t n = list->kept;
	const struct page_table t = {
		.head = loop_head(page->p),
		.what = "loops",
		.n = n,
		.most = PAGE_LOOPS,
		.row = write_row,
		.of = all,
	};
	const struct report r = { .f = page->f, .p = page->p };
	int err = 0;

	page_table(page, &t);
	page_left_out(page, list, t.what);
	fputs("<p class=note>", page->f);
	report_meaning(&r, all, n);
	fputs("</p>\n", page->f);
	for (size_t i = 0; i < n && i < PAGE_BODIES && !err; i++)
		err = write_body(page, &all[i], i + 1);
	return err;
}

int page_loops(struct page *page)
{
	int err = 0;

	fputs("<section id=loops>\n<h2>Hottest loops</h2>\n", page->f);
	if (page->loops.n)
		err = write_loops(page, &page->loops);
	else
		fputs("<p class=note>No loops: no back-edge was seen (modes adaptive, precise and full record "
		      "them).</p>\n",
		      page->f);
	fputs("</section>\n", page->f);
	return err;
}
