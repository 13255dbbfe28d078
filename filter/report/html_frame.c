// SPDX-License-Identifier: MIT
#include "html_frame.h"

#include "html.h"

void html_begin(FILE *f)
{
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src '%s'; "
		"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=viewport content=\"width=device-width\">\n"
		"<meta name=color-scheme content=\"light dark\">\n<link rel=icon href=\"data:,\">\n"
		"<title>Ocular</title>\n<style>\n",
		html_script_hash());
	html_style(f);
	fputs("</style>\n</head>\n<body>\n<main>\n", f);
}

/* The script is between its tags exactly as it was hashed. */
void html_end(FILE *f)
{
	fputs("<footer>Written by Ocular. This page is complete in itself: it loads nothing, and runs no script but "
	      "its "
	      "own.</footer>\n</main>\n<script>",
	      f);
	html_script(f);
	fputs("</script>\n</body>\n</html>\n", f);
}
