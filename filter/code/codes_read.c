// SPDX-License-Identifier: MIT
/*
 * One line of a code table is one JSON object; `kind` chooses the reader from a table. A line that cannot be used is
 * counted as damaged and skipped: the ids in it become "code ID".
 */
#include "codes_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "copies.h"
#include "dispatch_read.h"
#include "heads.h"
#include "shared/marker.h"
#include "shared/array.h"

/* All readers: 0, -EINVAL for a line that cannot be used, -ENOMEM, -EPROTO. */
typedef int (*line_reader)(struct codes *c, struct process *p, json_t *line);

static int64_t get_int(json_t *o, const char *key, int64_t otherwise)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

/* A copy of the string under key; NULL where there is none. */
static char *get_string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? strdup(s) : NULL;
}

static void set_string(char **field, json_t *o, const char *key)
{
	free(*field);
	*field = get_string(o, key);
}

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

static void read_opnames(struct process *p, json_t *names)
{
	size_t i;
	json_t *v;

	json_array_foreach (names, i, v) {
		if (i >= 256 || !json_is_string(v))
			continue;
		free(p->opnames[i]);
		p->opnames[i] = strdup(json_string_value(v));
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
	memset(before->collections, 0, sizeof(before->collections));
	before->ncodes = 0;
	before->compiled = (struct compiled){ 0 };
	before->threads = before->names = (struct map){ 0 };
	before->copiers = NULL;
	before->ncopiers = 0;
	for (uint32_t i = 0; i < p->ncodes; i++)
		if (p->codes[i] && p->codes[i]->process == p)
			p->codes[i]->process = before;
	p->before = before;
	p->python = p->mode = p->backend = p->argv = p->untraced = NULL;
	p->program = (struct program){ 0 };
	memset(p->opnames, 0, sizeof(p->opnames));
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
	p->unspecialized = json_is_true(json_object_get(line, "free_threaded")) && !is_since(p->python, 3, 14);
	set_string(&p->mode, line, "mode");
	set_string(&p->backend, line, "backend");
	free(p->argv);
	p->whole = json_is_true(json_object_get(line, "whole"));
	p->jit = json_is_true(json_object_get(line, "jit"));
	p->waits = get_int(line, "waits", 0) > 0;
	p->waits_unseen = get_int(line, "waits", -1) == 0;
	p->program_only = json_is_true(json_object_get(line, "program_only"));
	p->argv = join_strings(json_object_get(line, "argv"));
	set_string(&p->program.folder, line, "folder");
	set_string(&p->program.stdlib, line, "stdlib");
	p->tsc_hz = get_int(line, "tsc_hz", 0);
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

static bool read_instr(struct instr *in, json_t *row)
{
	json_int_t offset, line, opcode, target;

	if (json_unpack(row, "[IIII]", &offset, &line, &opcode, &target))
		return false;
	*in = (struct instr){
		.offset = offset, .line = line, .target = target, .base = opcode, .adaptive = opcode, .first = opcode
	};
	return offset >= 0 && opcode >= 0 && opcode < 256;
}

/* Reads rows up to the first that is damaged or out of order, and says whether all were good. */
static bool read_instrs(struct code *code, json_t *rows)
{
	size_t i;
	json_t *row;

	code->instrs = calloc(json_array_size(rows) + 1, sizeof(*code->instrs));
	json_array_foreach (rows, i, row) {
		struct instr *in = &code->instrs[i];

		if (!code->instrs || !read_instr(in, row) || (i && in->offset <= in[-1].offset))
			return false;
		code->ninstrs = i + 1;
	}
	return code->instrs;
}

static void mark_instrs(const struct process *p, struct code *code)
{
	for (uint32_t i = 0; i < code->ninstrs; i++) {
		struct instr *in = &code->instrs[i];
		const char *name = process_opname(p, in->base);

		in->back_edge = !strcmp(name, "JUMP_BACKWARD");
		in->handler = !strcmp(name, "PUSH_EXC_INFO");
		in->resume = !strcmp(name, "RESUME");
		code->generator |= !strcmp(name, "RETURN_GENERATOR");
		if (code->entry < 0 && in->resume)
			code->entry = in->offset;
	}
}

static int read_code(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_add(p, get_int(line, "id", 0));
	char *address;

	(void)c;
	if (!code || code->known)
		return -EINVAL;
	set_string(&code->file, line, "file");
	set_string(&code->qualname, line, "qualname");
	set_string(&code->name, line, "name");
	if (!code->file || !code->qualname) {
		free(code->file);
		free(code->qualname);
		code->file = strdup("?");
		code->qualname = strdup("?");
		return code->file && code->qualname ? -EINVAL : -ENOMEM;
	}
	code->known = true;
	code->excluded = json_is_true(json_object_get(line, "excluded"));
	code->coroutine = json_is_true(json_object_get(line, "coroutine"));
	code->firstlineno = get_int(line, "firstlineno", 0);
	code->units = get_int(line, "units", 0);
	code->line_lookup_ns = get_int(line, "line_lookup_ns", 0);
	address = get_string(line, "address");
	code->address = address ? strtoull(address, NULL, 16) : 0;
	free(address);
	if (!read_instrs(code, json_object_get(line, "instructions")))
		return -EINVAL;
	mark_instrs(p, code);
	return heads_mark(p, code);
}

/* "zlib.compress", but "len". NULL: no memory. */
static char *join_module(const char *module, const char *qualname)
{
	char *name = NULL;

	if (!module || !strcmp(module, "builtins"))
		return strdup(qualname);
	return asprintf(&name, "%s.%s", module, qualname) < 0 ? NULL : name;
}

static int read_c_function(struct codes *c, struct process *p, json_t *line)
{
	const char *qualname = json_string_value(json_object_get(line, "qualname"));
	struct code *code = qualname ? codes_add(p, get_int(line, "id", 0)) : NULL;

	(void)c;
	if (!code || code->known)
		return -EINVAL;
	set_string(&code->name, line, "name");
	free(code->file);
	free(code->qualname);
	code->file = strdup(CODE_C_FILE);
	code->qualname = join_module(json_string_value(json_object_get(line, "module")), qualname);
	code->known = code->c = true;
	code->profiled = json_is_true(json_object_get(line, "profiled"));
	return code->file && code->qualname ? 0 : -ENOMEM;
}

/* The name of something that is no code. */
static int read_name(struct process *p, json_t *line, const char *file, const char *name)
{
	struct code *code = name ? codes_add(p, get_int(line, "id", 0)) : NULL;

	if (!code || code->known)
		return -EINVAL;
	free(code->file);
	free(code->qualname);
	code->file = strdup(file);
	code->qualname = join_module(json_string_value(json_object_get(line, "module")), name);
	code->known = true;
	return code->file && code->qualname ? 0 : -ENOMEM;
}

/* What an import is of. */
static int read_import(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_name(p, line, CODE_IMPORT_FILE, json_string_value(json_object_get(line, "name")));
}

/* A type of exceptions. */
static int read_exception(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	return read_name(p, line, CODE_EXCEPTION_FILE, json_string_value(json_object_get(line, "qualname")));
}

#define DATA_MOST 10000 /* `data` lines are kept: memory does not grow with the recording */

/* A name of the program's own. */
static int read_label(struct codes *c, struct process *p, json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "name"));
	int err = read_name(p, line, CODE_LABEL_FILE, name);

	(void)c;
	if (!err)
		codes_add(p, get_int(line, "id", 0))->label = true;
	return err;
}

/* What goes with one span or instant, as text of JSON. */
static int read_data(struct codes *c, struct process *p, json_t *line)
{
	json_t *data = json_object_get(line, "data");
	char *text;
	int err;

	if (c->ndata >= DATA_MOST)
		return 0;
	text = json_is_object(data) ? json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	err = read_name(p, line, CODE_DATA_FILE, text);
	c->ndata += !err;
	free(text);
	return err;
}

/* Calls set for each instruction in a line's opcodes. `copy`: copies.h; NULL where threads have none. */
static int read_opcodes(struct code *code, json_t *line, struct copy *copy,
			void (*set)(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode))
{
	json_int_t offset, opcode;
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(line, "opcodes"), i, row) {
		uint32_t at;

		if (json_unpack(row, "[II]", &offset, &opcode) || opcode < 0 || opcode > 255)
			return -EINVAL;
		at = code_index(code, offset);
		if (at < code->ninstrs && code->instrs[at].offset == offset)
			set(code, copy, at, opcode);
	}
	return 0;
}

/* Of several copies, what any of them had. */
static void set_first(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode)
{
	struct instr *in = &code->instrs[i];

	(void)copy;
	if (in->first == in->base)
		in->first = opcode;
}

static void set_adaptive(struct code *code, struct copy *copy, uint32_t i, uint8_t opcode)
{
	(void)copy;
	code->instrs[i].adaptive = opcode;
}

static int read_before(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_own(p, get_int(line, "id", 0));

	(void)c;
	return code ? read_opcodes(code, line, NULL, set_first) : -EINVAL;
}

/* A fork also has lines for its parent's code, in its state when the fork ended. They count if the parent has none. */
static bool has_better_state(const struct process *p, const struct code *code)
{
	int32_t own = code->process->pid;

	return !code->final || p->pid == own || (code->final_pid != own && p->pid <= code->final_pid);
}

static void forget_state(struct code *code)
{
	for (uint32_t i = 0; i < code->ninstrs; i++)
		code->instrs[i].adaptive = code->instrs[i].base;
	copies_clear(code);
}

static int read_specialized(struct codes *c, struct process *p, json_t *line)
{
	struct code *code = codes_find(c, p, get_int(line, "id", 0));
	int64_t number = get_int(line, "copy", -1);
	struct copy *copy;

	if (!code)
		return -EINVAL;
	if (!has_better_state(p, code))
		return 0;
	if (code->final_pid != p->pid)
		forget_state(code);
	code->final = true;
	code->final_pid = p->pid;
	if (number < 0)
		return read_opcodes(code, line, NULL, set_adaptive);
	copy = copies_get(code, number);
	return copy ? read_opcodes(code, line, copy, copies_set) : -ENOMEM;
}

static int read_thread(struct codes *c, struct process *p, json_t *line)
{
	int64_t tid = get_int(line, "tid", -1);
	char *name = get_string(line, "name");

	(void)c;
	if (tid < 0 || !name) {
		free(name);
		return -EINVAL;
	}
	free(map_get(&p->threads, (uint32_t)tid));
	return map_put(&p->threads, (uint32_t)tid, name);
}

static int read_copy(struct codes *c, struct process *p, json_t *line)
{
	int64_t tid = get_int(line, "tid", -1), number = get_int(line, "copy", -1);

	(void)c;
	return tid < 0 || number < 0 ? -EINVAL : copies_add_thread(p, tid, number);
}

static int read_stop(struct codes *c, struct process *p, json_t *line)
{
	size_t i;
	json_t *row;

	(void)c;
	json_array_foreach (json_object_get(line, "markers"), i, row)
		p->emitted += json_integer_value(json_array_get(row, 1));
	p->lost += get_int(line, "lost", 0);
	p->duty.ended_ns = get_int(line, "at_ns", p->duty.ended_ns);
	p->stopped = true;
	return 0;
}

static int read_window(struct codes *c, struct process *p, json_t *line)
{
	int64_t from = get_int(line, "from_ns", -1), at = get_int(line, "at_ns", -1);

	(void)c;
	if (from < 0 || at < from)
		return -EINVAL;
	p->duty.ended_ns = at;
	return 0;
}

static int read_switch(struct codes *c, struct process *p, json_t *line)
{
	int64_t number = get_int(line, "number", 1);

	(void)p;
	if (number > c->switched)
		c->switched = number;
	return 0;
}

/* The same line is in the tables of several processes. */
static int read_piece(struct codes *c, struct process *p, json_t *line)
{
	const char *file = json_string_value(json_object_get(line, "file"));
	int64_t number = get_int(line, "number", 0);

	(void)p;
	if (!file)
		return -EINVAL;
	for (size_t i = 0; i < c->npieces; i++)
		if (c->pieces[i].number == number)
			return 0;
	if (!ARRAY_ONE_MORE(c->pieces, c->npieces))
		return -ENOMEM;
	c->pieces[c->npieces] = (struct piece){ strdup(file), number, get_int(line, "most", 0),
						get_int(line, "words", 0) };
	return c->pieces[c->npieces++].file ? 0 : -ENOMEM;
}

static int read_limit(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	c->limited |= json_object_get(line, "bytes") != NULL;
	c->trimmed |= json_object_get(line, "kept") != NULL;
	return 0;
}

static int read_killed(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	p->killed = get_int(line, "signal", 0);
	return p->killed ? 0 : -EINVAL;
}

/* The header was written before the JIT is switched on. */
static int read_jit(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	(void)line;
	p->jit = true;
	return 0;
}

/* Addresses are text: a JSON number is a double to many. */
static uint64_t get_address(json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? strtoull(text, NULL, 16) : 0;
}

static int read_executor(struct codes *c, struct process *p, json_t *line)
{
	int64_t offset = get_int(line, "offset", -1);

	(void)c;
	if (offset < 0)
		return -EINVAL;
	return compiled_add_executor(&p->compiled, get_int(line, "id", 0), offset, get_address(line, "entry"));
}

static int read_compiled(struct codes *c, struct process *p, json_t *line)
{
	const struct compiled_run run = {
		.id = get_int(line, "id", 0),
		.entry = get_address(line, "entry"),
		.n = get_int(line, "count", 0),
		.ns = get_int(line, "ns", 0),
	};

	(void)c;
	return compiled_add_run(&p->compiled, run);
}

static int read_untraced(struct codes *c, struct process *p, json_t *line)
{
	(void)c;
	set_string(&p->untraced, line, "reason");
	return p->untraced ? 0 : -EINVAL;
}

static char **read_strings(json_t *array)
{
	char **all = json_is_array(array) ? calloc(json_array_size(array) + 1, sizeof(*all)) : NULL;
	size_t i, n = 0;
	json_t *v;

	json_array_foreach (array, i, v)
		if (all && json_is_string(v) && (all[n] = strdup(json_string_value(v))))
			n++;
	return all;
}

static struct unmatched *find_unmatched(struct codes *c, const char *option, const char *pattern)
{
	struct unmatched **u = &c->unmatched;

	while (*u && (strcmp((*u)->option, option) || strcmp((*u)->pattern, pattern)))
		u = &(*u)->next;
	if (!*u && (*u = calloc(1, sizeof(**u)))) {
		(*u)->option = strdup(option);
		(*u)->pattern = strdup(pattern);
	}
	return *u;
}

/* Each process has its own line. */
static int read_unmatched(struct codes *c, struct process *p, json_t *line)
{
	const char *option = json_string_value(json_object_get(line, "option"));
	const char *pattern = json_string_value(json_object_get(line, "pattern"));
	struct unmatched *u;

	(void)p;
	if (!option || !pattern)
		return -EINVAL;
	u = find_unmatched(c, option, pattern);
	if (!u || !u->option || !u->pattern)
		return -ENOMEM;
	if (!u->processes++)
		u->nearest = read_strings(json_object_get(line, "nearest"));
	return 0;
}

/* Each process with words in a snapshot has the line: the first one is kept, in order. */
static int read_snapshot(struct codes *c, struct process *p, json_t *line)
{
	uint32_t number = get_int(line, "number", 0);
	struct snapshot *at;

	(void)p;
	if (!number)
		return -EINVAL;
	if (codes_snapshot(c, number))
		return 0;
	if (!ARRAY_ONE_MORE(c->snapshots, c->nsnapshots))
		return -ENOMEM;
	for (at = c->snapshots + c->nsnapshots++; at > c->snapshots && at[-1].number > number; at--)
		*at = at[-1];
	*at = (struct snapshot){
		.number = number,
		.from_ns = get_int(line, "from_ns", 0),
		.at_ns = get_int(line, "at_ns", 0),
		.pid = get_int(line, "pid", 0),
		.tid = get_int(line, "tid", 0),
		.threads = get_int(line, "threads", 0),
		.cut = get_int(line, "cut", 0),
		.words = get_int(line, "words", 0) + get_int(line, "lost", 0),
		.trigger = get_string(line, "trigger"),
		.label = get_string(line, "label"),
		.data = json_dumps(json_object_get(line, "data"), JSON_SORT_KEYS),
		.stack = read_strings(json_object_get(line, "stack")),
	};
	return 0;
}

static int read_native_function(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_function(&c->natives, line);
}

static int read_native_stack(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_stack(&c->natives, line);
}

static int read_native(struct codes *c, struct process *p, json_t *line)
{
	(void)p;
	return natives_read_totals(&c->natives, line);
}

static const struct {
	const char *kind;
	line_reader read;
} readers[] = {
	{ "header", read_header },
	{ "code", read_code },
	{ "specialized", read_specialized },
	{ "thread", read_thread },
	{ "stop", read_stop },
	{ "before", read_before },
	{ "untraced", read_untraced },
	{ "snapshot", read_snapshot },
	{ "window", read_window },
	{ "switch", read_switch },
	{ "limit", read_limit },
	{ "unmatched", read_unmatched },
	{ "killed", read_killed },
	{ "piece", read_piece },
	{ "callbacks", read_callbacks },
	{ "executor", read_executor },
	{ "compiled", read_compiled },
	{ "jit", read_jit },
	{ "copy", read_copy },
	{ "c_function", read_c_function },
	{ "import", read_import },
	{ "exception", read_exception },
	{ "label", read_label },
	{ "data", read_data },
	{ "native", read_native },
	{ "native_function", read_native_function },
	{ "native_stack", read_native_stack },
};

static int read_line(struct codes *c, struct process *p, const char *text, size_t length)
{
	json_t *line = json_loadb(text, length, 0, NULL);
	const char *kind = json_string_value(json_object_get(line, "kind"));
	int err = kind ? 0 : -EINVAL;

	for (size_t i = 0; kind && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (!strcmp(readers[i].kind, kind))
			err = readers[i].read(c, p, line);
	json_decref(line);
	return err;
}

static int read_lines(struct codes *c, struct process *p, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	int err = 0;

	while ((err == 0 || err == -EINVAL) && (length = getline(&text, &size, f)) > 0) {
		err = read_line(c, p, text, length);
		c->damaged += err == -EINVAL;
	}
	free(text);
	return err == -EINVAL ? 0 : err;
}

int codes_read(struct codes *c, struct process *p)
{
	char *path;
	FILE *f;
	int fd, err;

	if (!c->dir)
		return 0;
	if (asprintf(&path, "%s/codes-%d.jsonl", c->dir, p->pid) < 0)
		return -ENOMEM;
	fd = regular_open(path);
	free(path);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		c->missing++;
		return 0;
	}
	err = read_lines(c, p, f);
	fclose(f);
	if (err == -ENOMEM)
		snprintf(c->error, sizeof(c->error), "no memory for codes-%d.jsonl", p->pid);
	c->missing += !p->found && !p->untraced;
	return err;
}
