// SPDX-License-Identifier: MIT
/* Everything is written at the end, from the profile, like the console report. */
#include "sink_html.h"

#include "html.h"
#include "html_page.h"
#include "model/sink_file.h"

/* No script may run and nothing may be fetched, in case a name gets past html_text. */
static const char begin[] = "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
			    "<meta http-equiv=Content-Security-Policy "
			    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
			    "form-action 'none'\">\n"
			    "<meta name=viewport content=\"width=device-width\">\n"
			    "<meta name=color-scheme content=\"light dark\">\n"
			    "<link rel=icon href=\"data:,\">\n"
			    "<title>Ocular</title>\n<style>\n";

static const char end[] = "<footer>Written by Ocular. This page is complete in itself: it runs no script "
			  "and loads nothing.</footer>\n</main>\n</body>\n</html>\n";

static int render(FILE *f, struct sink *s, const struct profile *p)
{
	static int (*const sections[])(struct page * page) = {
		page_origins, page_functions,	page_loops,	     page_spans,    page_waits,	     page_locks,
		page_gil,     page_c_functions, page_native,	     page_compiled, page_exceptions, page_imports,
		page_sources, page_opcodes,	page_specialization, page_events,
	};
	struct page page = { .f = f, .p = p };
	int err = 0;

	(void)s;
	fputs(begin, f);
	html_style(f);
	fputs("</style>\n</head>\n<body>\n<main>\n", f);
	page_head(&page);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !err; i++)
		err = sections[i](&page);
	fputs(end, f);
	sources_free(&page.sources);
	return err;
}

static const struct sink_ops html_ops = {
	.finish = sink_file_finish,
	.render = render,
	.free = sink_file_free,
};

int sink_html_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct sink_file), &html_ops, o, error);
}
