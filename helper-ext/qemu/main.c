/* SPDX-License-Identifier: MIT */
/*
 * ocular-qemu - runs a program on an emulated processor with Intel Processor Trace, and writes the recording that perf
 * record would have made on such a processor.
 *
 *   options -> folder -> target on qemu-x86_64 -> { traces in spools } -> perf.data -> exit as the target
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"
#include "record/target.h"
#include "shared/version.h"

#define EXIT_USAGE	2
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND	127
#define QEMU		"qemu-x86_64"

struct options {
	const char *dir;
	struct settings set;
	char words[8192];  /* the settings as given */
	const char *truth; /* file for tests, or NULL */
	bool quiet;
	char **command;
};

static const char help[] =
	"Usage: ocular-qemu [OPTIONS] -- COMMAND [ARGS...]\n"
	"\n"
	"Runs COMMAND on an emulated processor (" QEMU " 7.2, package qemu-user of Debian 12)\n"
	"that has Intel Processor Trace and PTWRITE, and records it as perf record would into\n"
	"DIR/perf.data. One instruction is one cycle: counts are exact and repeatable. Python\n"
	"programs that COMMAND executes are followed. Ends as COMMAND ends.\n"
	"\n"
	"  -o, --output DIR   folder of the recording (default: ocular.data); a recording that\n"
	"                     is there is kept as DIR.old\n"
	"  -s, --set NAME[=N] how the processor traces; may be repeated:\n"
	"                       branch=1      control flow too (default 0)\n"
	"                       noretcomp=1   a TIP packet for every return\n"
	"                       defer=N       up to N TIPs wait behind a TNT that is not full (default 0)\n"
	"                       cyc=0         no CYC packets: times to the next TSC or MTC only\n"
	"                       cyc_thresh=N  a CYC only when 2^(N-1) cycles have passed (default 0: always)\n"
	"                       mtc=1         MTC packets, one in 2^N crystal ticks: mtc_period=N\n"
	"                       fup_on_ptw=1  the address of each PTWRITE\n"
	"                       filter=START-END, filter=OFFSET/SIZE@FILE  only this code: addresses,\n"
	"                                     or bytes of a file (hexadecimal); up to 8 of them\n"
	"                       tool=OFFSET/SIZE@FILE, handler=AT/AS@FILE  what runs only for the\n"
	"                                     recording is not counted (docs/emulator.md)\n"
	"                       numbered=1    processes and threads are called 1, 2, ...\n"
	"                       overflow=N    of every 2 N PTWRITEs the second N are lost, and all\n"
	"                                     packets between them: an overflow in the processor\n"
	"                       full=N        likewise, in a trace buffer that is full\n"
	"                       migrate=N     traces of CPUs; a thread goes to another one after\n"
	"                                     N PTWRITEs\n"
	"                       snapshot=BYTES  a buffer that is overwritten, read at the end and\n"
	"                                     with every=N after N PTWRITEs: perf record --snapshot\n"
	"                       psb=BYTES     from one PSB to the next (default 65536)\n"
	"      --truth FILE   what the emulator knows and the trace does not say, for tests\n"
	"  -q, --quiet        only errors and losses\n"
	"  -h, --help         this text; --version\n"
	"\n"
	"Examples:\n"
	"  ocular-qemu -o app.data -- python3 -m ocular app.py\n"
	"  ocular-qemu -s branch=1 -s noretcomp=1 -- ./program\n"
	"  perf script -i ocular.data/perf.data --itrace=i1ie\n";

enum { OPT_TRUTH = 256 };

static const struct option table[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "set", required_argument, NULL, 's' },
	{ "truth", required_argument, NULL, OPT_TRUTH },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int complain(int status, const char *what, const char *arg)
{
	fprintf(stderr, "ocular-qemu: %s%s\n", what, arg);
	return status;
}

/* --- options ----------------------------------------------------------------------------------------- */

#define OPTIONS_RUN -1

static int take_word(struct options *o, const char *word)
{
	size_t used = strlen(o->words);

	switch (settings_word(&o->set, word, strlen(word))) {
	case 0:
		break;
	case -ENOENT:
		return complain(EXIT_USAGE, "unknown setting, or no such file for it (see --help): ", word);
	default:
		return complain(EXIT_USAGE, "value out of range (see --help): ", word);
	}
	if (used + strlen(word) + 2 > sizeof(o->words))
		return complain(EXIT_USAGE, "too many settings: ", word);
	sprintf(o->words + used, "%s ", word);
	return OPTIONS_RUN;
}

static int take_option(struct options *o, int opt)
{
	switch (opt) {
	case 'o':
		o->dir = optarg;
		return OPTIONS_RUN;
	case 's':
		return take_word(o, optarg);
	case OPT_TRUTH:
		o->truth = optarg;
		return take_word(o, "truth=1");
	case 'q':
		o->quiet = true;
		return OPTIONS_RUN;
	case 'h':
		fputs(help, stdout);
		return EXIT_SUCCESS;
	default:
		return EXIT_USAGE;
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt, status;

	*o = (struct options){ .dir = "ocular.data" };
	settings_init(&o->set);
	while ((opt = getopt_long(argc, argv, "+o:s:qh", table, NULL)) != -1) {
		status = take_option(o, opt);
		if (status != OPTIONS_RUN)
			return status;
	}
	if (o->set.overflow && o->set.full)
		return complain(EXIT_USAGE, "overflow=N and full=N cannot be combined", "");
	if (o->set.numbered && o->set.migrate)
		return complain(EXIT_USAGE, "numbered=1 is for traces of threads, not migrate=N", "");
	if (o->set.every && !o->set.snapshot)
		return complain(EXIT_USAGE, "every=N is for snapshot=BYTES", "");
	if (optind == argc)
		return complain(EXIT_USAGE, "no command to record (see --help)", "");
	o->command = argv + optind;
	return OPTIONS_RUN;
}

/* --- what is needed ---------------------------------------------------------------------------------- */

/* Finds `name` on PATH, as execvp does. */
static bool find_program(const char *name, char *path)
{
	const char *dirs = getenv("PATH"), *next;

	if (strchr(name, '/'))
		return realpath(name, path) && access(path, X_OK) == 0;
	for (dirs = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *dirs; dirs = next + !!*next) {
		next = strchrnul(dirs, ':');
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(next - dirs), dirs, name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Builds later than Debian 12's are static and have no -plugin. */
static bool takes_plugins(const char *qemu)
{
	char command[PATH_MAX + 64], line[512];
	bool found = false;
	FILE *out;

	snprintf(command, sizeof(command), "'%s' -help 2>/dev/null", qemu);
	out = popen(command, "re");
	while (out && fgets(line, sizeof(line), out))
		found |= strncmp(line, "-plugin", 7) == 0;
	if (out)
		pclose(out);
	return found;
}

/* The parts are beside this program, or in ../lib if it is installed. */
static bool find_part(const char *name, char *path)
{
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !strrchr(self, '/'))
		return false;
	*strrchr(self, '/') = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", self, name) < PATH_MAX && access(path, R_OK) == 0;
}

struct parts {
	char qemu[PATH_MAX], plugin[PATH_MAX], guest[PATH_MAX];
};

static int find_parts(struct parts *p)
{
	if (!find_program(QEMU, p->qemu))
		return complain(EXIT_FAILURE,
				QEMU " is not installed: install qemu-user (Debian 12 has the "
				     "version 7.2 that works)",
				"");
	if (!takes_plugins(p->qemu))
		return complain(EXIT_FAILURE,
				"this " QEMU " takes no plugins, as the static builds later "
				"than Debian 12's 7.2: ",
				p->qemu);
	if (!find_part("ocular-qemu-pt.so", p->plugin) || !find_part("ocular-qemu-guest.so", p->guest))
		return complain(EXIT_FAILURE,
				"ocular-qemu-pt.so and ocular-qemu-guest.so are not beside "
				"this program: run make",
				"");
	if (strpbrk(p->guest, " :,")) /* LD_PRELOAD and -plugin have no way to quote them */
		return complain(EXIT_FAILURE,
				"cannot run from a path with a blank, colon or comma: install Ocular elsewhere than ",
				p->guest);
	return OPTIONS_RUN;
}

/* --- the program ------------------------------------------------------------------------------------- */

/* Is it a program for QEMU itself, not a script whose interpreter moves to QEMU by guest.c? */
static bool is_program(const char *path)
{
	Elf64_Ehdr head;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, &head, sizeof(head)) == sizeof(head) &&
		  memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_machine == EM_X86_64;

	if (fd >= 0)
		close(fd);
	return is;
}

static void set_environment(const struct options *o, const struct parts *p, const struct recording *r)
{
	const char *preload = getenv("LD_PRELOAD"), *backend = getenv("OCULAR_BACKEND");
	char both[2 * PATH_MAX];

	snprintf(both, sizeof(both), "%s%s%s", p->guest, preload && *preload ? ":" : "", preload ? preload : "");
	setenv("LD_PRELOAD", both, 1);
	setenv(SETTINGS_ENV, o->words, 1);
	setenv(SETTINGS_SPOOLS, r->spools, 1);
	setenv(SETTINGS_QEMU, p->qemu, 1);
	setenv(SETTINGS_PLUGIN, p->plugin, 1);
	if (strcmp(backend ? backend : "auto", "emulated") != 0)
		setenv("OCULAR_BACKEND", "ptwrite", 1);
}

/* qemu-x86_64 -plugin P -0 ARGV0 PATH ARGS; images.c and guest.c know this form. */
static char **emulated(const struct parts *p, char *path, char **command)
{
	size_t n = 0;
	char **to;

	while (command[n])
		n++;
	to = calloc(n + 6, sizeof(*to));
	if (!to)
		return NULL;
	memcpy(to, (char *[]){ (char *)p->qemu, "-plugin", (char *)p->plugin, "-0", command[0], path },
	       6 * sizeof(*to));
	memcpy(to + 6, command + 1, (n - 1) * sizeof(*to));
	return to;
}

/* Signals go to the program; the recording ends when all processes that it started have ended. */
static void wait_for_all(struct target *t, int signals)
{
	struct signalfd_siginfo si;
	pid_t pid;
	int status;

	while (read(signals, &si, sizeof(si)) == sizeof(si) || errno == EINTR) {
		if (si.ssi_signo != SIGCHLD) {
			target_pass(t, (int)si.ssi_signo, si.ssi_code);
			continue;
		}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != t->pid)
				continue;
			t->ended = true;
			t->status = status;
			witness_end(&t->witness); /* not one of those we wait for */
		}
		if (pid < 0)
			return;
	}
}

static void report(const struct options *o, const struct recording *r)
{
	if (r->lost)
		fprintf(stderr, "ocular-qemu: %llu traces are cut off: the disk is full\n",
			(unsigned long long)r->lost);
	if (!o->quiet)
		fprintf(stderr, "ocular-qemu: %u threads, %.1f MB of trace in %s\n", r->threads, (double)r->bytes / 1e6,
			r->folder.path);
}

static int record(const struct options *o, struct recording *r, const struct parts *p)
{
	char path[PATH_MAX];
	struct target t = { 0 };
	struct inherit inherit;
	char **command;
	int signals, err;

	if (!find_program(o->command[0], path))
		return complain(EXIT_NOT_FOUND, "cannot run: no such program: ", o->command[0]);
	command = is_program(path) ? emulated(p, path, o->command) : o->command;
	signals = inherit_save(&inherit);
	if (!command || signals < 0)
		return complain(EXIT_FAILURE, "out of memory or descriptors", "");
	fcntl(signals, F_SETFL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	personality(ADDR_NO_RANDOMIZE); /* so that all runs are alike */
	set_environment(o, p, r);
	err = target_start(&t, command, r->folder.path, &inherit);
	if (err)
		return complain(EXIT_CANNOT_RUN, "cannot run: ", strerror(-err));
	wait_for_all(&t, signals);
	err = recording_finish(r, &o->set, o->truth);
	if (err)
		complain(0, "the recording is incomplete: ", strerror(-err));
	report(o, r);
	r->folder.fd = -1; /* it is not empty now */
	err = !err ? 0 : EXIT_FAILURE;
	return target_exit_status(&t) ? target_exit_status(&t) : err;
}

static int open_recording(struct recording *r, const char *dir)
{
	int err = recording_open(r, dir);

	if (folder_refusal(err))
		return complain(EXIT_FAILURE, dir, folder_refusal(err));
	if (err)
		return complain(EXIT_FAILURE, "cannot make the folder, choose another one with -o: ", strerror(-err));
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct options options;
	struct recording r;
	struct parts parts;
	int status;

	if (version_asked(argc, argv, "ocular-qemu"))
		return EXIT_SUCCESS;
	inherit_standard();
	status = parse(&options, argc, argv);
	if (status == OPTIONS_RUN)
		status = find_parts(&parts);
	if (status == OPTIONS_RUN)
		status = open_recording(&r, options.dir);
	if (status != OPTIONS_RUN)
		return status;
	status = record(&options, &r, &parts);
	if (r.folder.fd >= 0)
		recording_cancel(&r);
	return status;
}
