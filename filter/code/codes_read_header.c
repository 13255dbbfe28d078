// SPDX-License-Identifier: MIT
/*
 * The first line of a table, `header`: how the process was recorded, by which interpreter, and what its opcodes are.
 *
 * A process may have several: tracing was started again, or it exec'ed another interpreter.
 */
#include "codes_read_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "dispatch_read.h"
#include "shared/array.h"
#include "shared/marker.h"

static char *join_strings(json_t *array)
{
	char *text = NULL;
	size_t size = 0, i;
	json_t *v;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	json_array_foreach (array, i, v)
		fprintf(f, "%s%s", i ? " " : "", json_is_string(v) ? json_string_value(v) : "?");
	fclose(f);
	return text;
}

static enum opcode_role role_of(const char *opname)
{
	static const struct {
		const char *opname;
		enum opcode_role role;
	} roles[] = {
		{ "JUMP_BACKWARD", ROLE_BACK_EDGE },
		{ "PUSH_EXC_INFO", ROLE_HANDLER },
		{ "RESUME", ROLE_RESUME },
		{ "RETURN_GENERATOR", ROLE_GENERATOR },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].opname, opname))
			return roles[i].role;
	return ROLE_NONE;
}

/* Looked up here, as tables have a hundred times as many instructions. */
static void read_opnames(struct process *p, json_t *names)
{
	size_t i;
	json_t *v;

	json_array_foreach (names, i, v) {
		if (i >= 256 || !json_is_string(v))
			continue;
		free(p->opnames[i]);
		p->opnames[i] = strdup(json_string_value(v));
		p->roles[i] = role_of(json_string_value(v));
	}
}

static bool other_opnames(const struct process *p, json_t *names)
{
	const char *name;
	size_t i;
	json_t *v;

	json_array_foreach (names, i, v) {
		name = json_string_value(v);
		if (i < 256 && (!name != !p->opnames[i] || (name && strcmp(name, p->opnames[i]))))
			return true;
	}
	return false;
}

/*
 * The process exec'ed an interpreter with other opcodes: what was read so far stays with the code objects so far. Ids,
 * threads and counts go on, and the handlers stay those of the first, because a branch does not say which interpreter
 * it is in.
 */
static int begin_anew(struct process *p)
{
	struct process *before = malloc(sizeof(*before));

	if (!before)
		return -ENOMEM;
	*before = *p;
	before->dispatch = NULL;
	before->codes = NULL;
	before->ran = NULL;
	memset(before->collections, 0, sizeof(before->collections));
	before->ncodes = 0;
	before->compiled = (struct compiled){ 0 };
	before->threads = before->names = (struct map){ 0 };
	before->copiers = NULL;
	before->pool = (struct pool){ 0 };
	before->ncopiers = 0;
	for (uint32_t i = 0; i < p->ncodes; i++)
		if (p->codes[i] && p->codes[i]->process == p)
			p->codes[i]->process = before;
	p->before = before;
	p->python = p->mode = p->backend = p->argv = p->untraced = NULL;
	p->program = (struct program){ 0 };
	memset(p->opnames, 0, sizeof(p->opnames));
	memset(p->roles, 0, sizeof(p->roles));
	memset(p->able, 0, sizeof(p->able));
	p->ables = false;
	return 0;
}

/* What disturbs measuring only adds, but what disturbs all the time is of the cost. */
static void add_callback(struct callback *c, int64_t cycles)
{
	if (cycles <= 0)
		return;
	if (!c->least || (uint64_t)cycles < c->least)
		c->least = cycles;
	if ((uint64_t)cycles > c->most)
		c->most = cycles;
}

static void read_callback_cycles(struct process *p, json_t *cycles)
{
#define X(op, event, stack, far) add_callback(&p->callbacks[op], get_int(cycles, #event, 0));
	OCULAR_EVENTS(X)
#undef X
}

/* What was measured at several times; the header's, too, but made better by what is known by then. */
static int read_callbacks(struct codes *c, struct process *p, json_t *line)
{
	json_t *cycles;
	size_t i;

	(void)c;
	memset(p->callbacks, 0, sizeof(p->callbacks));
	json_array_foreach (json_object_get(line, "cycles"), i, cycles)
		read_callback_cycles(p, cycles);
	return 0;
}

static void read_able(struct process *p, json_t *opcodes)
{
	size_t i;
	json_t *v;

	if (p->unspecialized) {
		p->ables = true;
		return;
	}
	json_array_foreach (opcodes, i, v)
		if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) < 256)
			p->able[json_integer_value(v)] = p->ables = true;
}

/* A second start in the same file continues where the first ended. */
static void read_duty(struct process *p, json_t *line)
{
	json_t *duty = json_object_get(line, "duty");

	if (!duty)
		return;
	p->duty.start_ns = get_int(duty, "start_ns", 0);
	p->duty.window_ns = get_int(duty, "window_ns", 0);
	p->duty.period_ns = get_int(duty, "period_ns", 0);
	if (!p->duty.begun_ns)
		p->duty.begun_ns = p->duty.ended_ns = get_int(json_object_get(line, "clock"), "monotonic_ns", 0);
}

/* Is a version in sys.version's form, "3.13.0 (main, ...", this one or later? */
static bool is_since(const char *version, int major, int minor)
{
	int is[2] = { 0 };

	return version && sscanf(version, "%d.%d", &is[0], &is[1]) == 2 &&
	       (is[0] > major || (is[0] == major && is[1] >= minor));
}

/* The 3 of "3.12.3 (main, ..."; 0: it has none. */
static int patch_of(const char *version)
{
	int patch = 0;

	return version && sscanf(version, "%*d.%*d.%d", &patch) == 1 ? patch : 0;
}

static int refuse_newer(struct codes *c, const struct process *p, const char *what, int64_t version, unsigned newest)
{
	snprintf(c->error, sizeof(c->error),
		 "cannot read codes-%d.jsonl: it is of %s %lld, this Ocular knows up to %u; use a newer Ocular", p->pid,
		 what, (long long)version, newest);
	return -EPROTO;
}

/* The recorder uses CLOCK_MONOTONIC; perf has a clock of its own. */
static struct wall read_wall(const struct process *p, json_t *line)
{
	bool ours = p->backend && !strcmp(p->backend, "software");

	return (struct wall){ p->realtime_ns, ours ? get_int(json_object_get(line, "clock"), "monotonic_ns", 0) : 0 };
}

static bool has_package(const struct codes *c, const char *name)
{
	for (size_t i = 0; i < c->npackages; i++)
		if (!strcmp(c->packages[i], name))
			return true;
	return false;
}

static int read_packages(struct codes *c, json_t *names)
{
	size_t i;
	json_t *v;

	json_array_foreach (names, i, v) {
		const char *name = json_string_value(v);

		if (!name || !*name || has_package(c, name))
			continue;
		if (!ARRAY_ONE_MORE(c->packages, c->npackages) || !(c->packages[c->npackages] = strdup(name)))
			return -ENOMEM;
		c->npackages++;
	}
	return 0;
}

static int read_header(struct codes *c, struct process *p, json_t *line)
{
	int64_t version = get_int(line, "ocular", 0), markers = get_int(line, "markers", 1);

	if (version > CODES_VERSION)
		return refuse_newer(c, p, "format", version, CODES_VERSION);
	if (markers > MARKER_VERSION)
		return refuse_newer(c, p, "marker version", markers, MARKER_VERSION);
	if (version < 1 || markers < 1)
		return -EINVAL;
	p->markers = markers;
	if (p->found && other_opnames(p, json_object_get(line, "opnames")) && begin_anew(p))
		return -ENOMEM;
	set_string(&p->python, line, "python");
	p->starts_late = is_since(p->python, 3, 13);
	p->looks_twice = !p->starts_late && patch_of(p->python) < 4;
	p->free_threaded = json_is_true(json_object_get(line, "free_threaded"));
	p->unspecialized = p->free_threaded && !is_since(p->python, 3, 14);
	set_string(&p->mode, line, "mode");
	set_string(&p->backend, line, "backend");
	free(p->argv);
	p->whole = json_is_true(json_object_get(line, "whole"));
	p->jit = json_is_true(json_object_get(line, "jit"));
	p->identity = json_is_true(json_object_get(line, "identity"));
	p->waits = get_int(line, "waits", 0) > 0;
	p->waits_unseen = get_int(line, "waits", -1) == 0;
	p->program_only = json_is_true(json_object_get(line, "program_only"));
	p->argv = join_strings(json_object_get(line, "argv"));
	free(p->program.name);
	p->program.name = command_line_program(json_object_get(line, "argv"));
	set_string(&p->program.folder, line, "folder");
	set_string(&p->program.stdlib, line, "stdlib");
	p->tsc_hz = get_int(line, "tsc_hz", 0);
	p->coarse = get_int(line, "coarse", 0);
	p->realtime_ns = get_int(json_object_get(line, "clock"), "realtime_ns", 0);
	if (!p->found) { /* ids only ever grow: those below the first header's are the parent's */
		p->began = read_wall(p, line);
		p->first_id = get_int(line, "first_id", 1);
		p->parent = get_int(line, "parent", -1);
	}
	read_opnames(p, json_object_get(line, "opnames"));
	read_able(p, json_object_get(line, "specializable"));
	p->flight = json_is_true(json_object_get(line, "flight"));
	read_duty(p, line);
	memset(p->callbacks, 0, sizeof(p->callbacks));
	read_callback_cycles(p, json_object_get(line, "callback_cycles"));
	p->found = true;
	p->stopped = false;
	if (read_packages(c, json_object_get(line, "packages")))
		return -ENOMEM;
	return dispatch_read(&p->dispatch, json_object_get(line, "dispatch"), p->opnames, &c->handlers);
}

const struct line_kind codes_read_header[] = {
	{ "header", read_header },
	{ "callbacks", read_callbacks },
	{ 0 },
};
