// SPDX-License-Identifier: MIT
/*
 * ocular-pack pack|unpack [options] FROM TO: a recording's folder as one file, and back. `ocular pack` and `ocular
 * unpack` (scripts/commands/pack.sh) call it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "pack/pack.h"
#include "shared/version.h"

static const char usage[] = "usage: ocular-pack pack [-q] [--force] [--remove] [--no-sources] DIR FILE\n"
			    "       ocular-pack unpack [-q] [--force] FILE DIR\n";

#define STATUS_USAGE 2
#define STATUS_PART  3

struct arguments {
	bool unpacks, quiet, force, remove, no_sources;
	const char *from, *to;
};

static volatile sig_atomic_t stop;

static void note_signal(int number)
{
	stop = number;
}

static int say(const char *what, int status)
{
	fputs("ocular-pack: ", stderr);
	text_plain(stderr, what);
	fputc('\n', stderr);
	return status;
}

/* One line on a terminal, none elsewhere; what was done is told unless quiet. */
static struct advance advance_of(const struct arguments *a)
{
	struct sigaction action = { .sa_handler = note_signal };
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	return (struct advance){
		.on = !a->quiet && isatty(STDERR_FILENO),
		.what = a->unpacks ? "unpacked" : "packed",
		.stop = &stop,
	};
}

/* A signal ends us as it would have, now that nothing is left behind. */
static int failed(const char *error)
{
	int number = stop;

	say(error, 0);
	if (number) {
		signal(number, SIG_DFL);
		raise(number);
	}
	return EXIT_FAILURE;
}

static int pack_it(const struct arguments *a)
{
	struct advance advance = advance_of(a);
	struct packed p = { .sources = !a->no_sources };
	char error[PACK_ERROR], line[PACK_ERROR];
	struct stat st;
	int err;

	if (!stat(a->to, &st) && !a->force) {
		snprintf(line, sizeof(line), "'%s' is there already: --force replaces it", a->to);
		return say(line, EXIT_FAILURE);
	}
	err = pack(a->from, a->to, OCULAR_VERSION, &p, &advance, error);
	advance_end(&advance);
	if (err)
		return failed(error);
	if (p.nsources)
		snprintf(line, sizeof(line), ", with %u source file%s", p.nsources, p.nsources == 1 ? "" : "s");
	if (!a->quiet)
		fprintf(stderr, "[ ocular: %.3f MB of %.3f MB in %s%s ]\n", p.packed / 1e6, p.size / 1e6, a->to,
			p.nsources ? line : "");
	if (*p.left) {
		snprintf(line, sizeof(line), "'%s' in the folder is not a file of a recording and was left out%s",
			 p.left, a->remove ? ", so the folder was not removed" : "");
		say(line, 0);
	}
	if (a->remove && !*p.left && pack_remove(a->from, error))
		return say(error, EXIT_FAILURE);
	return a->remove && *p.left ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Makes room for the folder: an older one becomes DIR.old, as with ocular record, but nothing is removed. */
static bool make_room(const struct arguments *a, char *line)
{
	char old[PATH_MAX];
	struct stat st;

	if (lstat(a->to, &st))
		return true;
	snprintf(old, sizeof(old), "%s.old", a->to);
	if (!a->force)
		snprintf(line, PACK_ERROR,
			 "'%s' is there already: name another folder, or --force moves it to '%s.old'", a->to, a->to);
	else if (!lstat(old, &st))
		snprintf(line, PACK_ERROR, "'%s' and '%s' are there already: move one away", a->to, old);
	else if (rename(a->to, old))
		snprintf(line, PACK_ERROR, "cannot move '%s' to '%s': %s", a->to, old, strerror(errno));
	else
		return true;
	return false;
}

static int tell_loss(const struct arguments *a, const struct unpacked *u)
{
	char line[2 * PACK_ERROR];
	int n = snprintf(line, sizeof(line), "'%s' is %s: only %.3f of %.3f MB could be unpacked", a->from, u->why,
			 u->had / 1e6, u->size / 1e6);

	if (*u->cut)
		n += snprintf(line + n, sizeof(line) - n, "; %s ends early", u->cut);
	if (u->missing)
		snprintf(line + n, sizeof(line) - n, "; %u of %u files %s missing", u->missing, u->files,
			 u->missing == 1 ? "is" : "are");
	return say(line, STATUS_PART);
}

static int unpack_it(const struct arguments *a)
{
	struct advance advance = advance_of(a);
	struct unpacked u;
	char error[PACK_ERROR];
	int err;

	if (!make_room(a, error))
		return say(error, EXIT_FAILURE);
	err = unpack(a->from, a->to, &u, &advance, error);
	advance_end(&advance);
	if (err)
		return failed(error);
	if (u.why)
		return tell_loss(a, &u);
	if (!a->quiet)
		fprintf(stderr, "[ ocular: %.3f MB in %s ]\n", u.size / 1e6, a->to);
	return EXIT_SUCCESS;
}

/* False: wrong usage. */
static bool take(struct arguments *a, const char *word)
{
	if (!strcmp(word, "-q"))
		a->quiet = true;
	else if (!strcmp(word, "--force"))
		a->force = true;
	else if (!strcmp(word, "--remove") && !a->unpacks)
		a->remove = true;
	else if (!strcmp(word, "--no-sources") && !a->unpacks)
		a->no_sources = true;
	else if (*word == '-' || a->to)
		return false;
	else if (a->from)
		a->to = word;
	else
		a->from = word;
	return true;
}

int main(int argc, char **argv)
{
	struct arguments a = { 0 };
	bool ok = argc > 1;

	if (version_asked(argc, argv, "ocular-pack"))
		return EXIT_SUCCESS;
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return printf("%s\nThe commands ocular pack and ocular unpack call it; their --help says more.\n",
			      usage) < 0;
	a.unpacks = ok && !strcmp(argv[1], "unpack");
	ok = ok && (a.unpacks || !strcmp(argv[1], "pack"));
	for (int i = 2; i < argc && ok; i++)
		ok = take(&a, argv[i]);
	if (!ok || !a.to)
		return fputs(usage, stderr), STATUS_USAGE;
	return a.unpacks ? unpack_it(&a) : pack_it(&a);
}
