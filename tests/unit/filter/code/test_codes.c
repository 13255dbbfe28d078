/* SPDX-License-Identifier: MIT */
/* test_codes.c - code tables, intact and damaged, of one process and of its forks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "code/codes.h"
#include "code/dispatch.h"
#include "model/ticks.h"

#define COUNT(a)	   (sizeof(a) / sizeof(*(a)))
#define HEADER(more)	   "{\"kind\":\"header\",\"ocular\":1,\"pid\":7,\"first_id\":1" more "}\n"
#define CODE(id, more)	   "{\"kind\":\"code\",\"id\":" #id ",\"file\":\"a.py\",\"qualname\":\"f" #id "\"" more "}\n"
#define INSTRUCTIONS(rows) ",\"instructions\":[" rows "]"

static char dir[] = "/tmp/ocular-test-codes-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *table_path(int pid)
{
	static char path[sizeof(dir) + 32];

	snprintf(path, sizeof(path), "%s/codes-%d.jsonl", dir, pid);
	return path;
}

static void write_table(int pid, const char *text)
{
	FILE *f = fopen(table_path(pid), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_callback(const struct process *p, unsigned op, uint64_t least, uint64_t most)
{
	assert_int_equal(p->callbacks[op].least, least);
	assert_int_equal(p->callbacks[op].most, most);
}

static void test_everything_is_read(void **state)
{
	struct codes c;
	struct process *p;
	struct code *code;

	(void)state;
	write_table(7, HEADER(",\"argv\":[\"app.py\",\"a b\"],\"python\":\"3.12.1\",\"mode\":\"adaptive\","
			      "\"backend\":\"software\",\"tsc_hz\":2600000000,"
			      "\"opnames\":[\"CACHE\",null,\"RESUME\",\"JUMP_BACKWARD\"],"
			      "\"specializable\":[9,300,-1,\"x\"],"
			      "\"callback_cycles\":{\"JUMP\":44,\"LINE\":50}")
			       CODE(3, ",\"firstlineno\":12,\"address\":\"0x7f00aa\",\"units\":"
				       "40" INSTRUCTIONS(
					       "[0,12,2,-1],[2,13,9,-1],[6,-1,3,2]")) "{\"kind\":\"before\",\"id\":3,"
										      "\"opcodes\":[[6,201]]}\n"
										      "{\"kind\":"
										      "\"specialized\","
										      "\"id\":3,\"reason\":"
										      "\"stop\",\"opcodes\":["
										      "[2,200]]}\n"
										      "{\"kind\":\"thread\","
										      "\"tid\":70,\"name\":"
										      "\"worker\"}\n"
										      "{\"kind\":\"stop\","
										      "\"markers\":[[7,100],["
										      "70,23]],\"lost\":5}"
										      "\n");
	assert_int_equal(codes_init(&c, dir), 0);
	p = codes_process(&c, 7);
	assert_non_null(p);
	assert_true(p->found);
	assert_string_equal(p->argv, "app.py a b");
	assert_string_equal(p->python, "3.12.1");
	assert_string_equal(p->mode, "adaptive");
	assert_string_equal(p->backend, "software");
	assert_int_equal(p->tsc_hz, 2600000000);
	assert_callback(p, OP_JUMP, 44, 44);
	assert_callback(p, OP_LINE, 50, 50);
	assert_callback(p, OP_CALL, 0, 0);
	assert_string_equal(process_opname(p, 2), "RESUME");
	assert_string_equal(process_opname(p, 1), "?");
	assert_string_equal(process_opname(p, 250), "?");
	assert_string_equal(process_thread_name(p, 70), "worker");
	assert_null(process_thread_name(p, 71));
	assert_true(p->stopped);
	assert_int_equal(p->emitted, 123);
	assert_int_equal(p->lost, 5);

	code = codes_find(&c, p, 3);
	assert_non_null(code);
	assert_true(code->known && code->final);
	assert_string_equal(code->file, "a.py");
	assert_string_equal(code->qualname, "f3");
	assert_int_equal(code->firstlineno, 12);
	assert_int_equal(code->address, 0x7f00aa);
	assert_int_equal(code->units, 40);
	assert_int_equal(code->entry, 0);
	assert_int_equal(code->ninstrs, 3);
	assert_int_equal(code->instrs[1].base, 9);
	assert_int_equal(code->instrs[1].adaptive, 200);
	assert_int_equal(code->instrs[2].line, -1);
	assert_int_equal(code->instrs[2].target, 2);
	assert_int_equal(code->instrs[2].adaptive, 3);
	assert_int_equal(code->instrs[1].first, 9);
	assert_int_equal(code->instrs[2].first, 201);
	assert_true(p->ables && p->able[9] && !p->able[2]);
	assert_true(code->instrs[2].back_edge && !code->instrs[1].back_edge);
	assert_ptr_equal(codes_process(&c, 7), p);
	assert_int_equal(c.damaged + c.missing + c.unknown, 0);
	codes_free(&c);
	unlink(table_path(7));
}

/* Of each damaged line, how many are counted and whether codes 1 and 2 around it are still there.
 */
static const struct {
	const char *name, *line;
	unsigned damaged;
} damages[] = {
	{ "none", "", 0 },
	{ "a newer kind", "{\"kind\":\"rumour\"}\n", 0 },
	{ "a newer key", "{\"kind\":\"thread\",\"tid\":1,\"name\":\"x\",\"mood\":\"good\"}\n", 0 },
	{ "no JSON", "{\"kind\":\"code\",\"id\":9,\"fil\n", 1 },
	{ "binary", "\x01\x02\xff\xfe\n", 1 },
	{ "empty line", "\n", 1 },
	{ "an array", "[1,2]\n", 1 },
	{ "no kind", "{\"id\":4}\n", 1 },
	{ "kind is a number", "{\"kind\":4}\n", 1 },
	{ "code without id", "{\"kind\":\"code\",\"file\":\"a\",\"qualname\":\"f\"}\n", 1 },
	{ "code id 0", "{\"kind\":\"code\",\"id\":0,\"file\":\"a\",\"qualname\":\"f\"}\n", 1 },
	{ "code id beyond a marker's", "{\"kind\":\"code\",\"id\":16777216,\"file\":\"a\",\"qualname\":\"f\"}\n", 1 },
	{ "negative code id", "{\"kind\":\"code\",\"id\":-1,\"file\":\"a\",\"qualname\":\"f\"}\n", 1 },
	{ "code without name", "{\"kind\":\"code\",\"id\":9,\"file\":\"a\"}\n", 1 },
	{ "code twice", CODE(1, ""), 1 },
	{ "instructions out of order", CODE(9, INSTRUCTIONS("[4,1,2,-1],[2,1,2,-1]")), 1 },
	{ "opcode beyond a byte", CODE(9, INSTRUCTIONS("[0,1,256,-1]")), 1 },
	{ "short instruction", CODE(9, INSTRUCTIONS("[0,1,2]")), 1 },
	{ "before without code", "{\"kind\":\"before\",\"id\":77,\"opcodes\":[]}\n", 1 },
	{ "specialized without code", "{\"kind\":\"specialized\",\"id\":77,\"opcodes\":[]}\n", 1 },
	{ "specialized opcode beyond a byte", "{\"kind\":\"specialized\",\"id\":1,\"opcodes\":[[0,999]]}\n", 1 },
	{ "specialized where no instruction is", "{\"kind\":\"specialized\",\"id\":1,\"opcodes\":[[50,3]]}\n", 0 },
	{ "thread without name", "{\"kind\":\"thread\",\"tid\":3}\n", 1 },
	{ "header without version", "{\"kind\":\"header\",\"pid\":7}\n", 1 },
	{ "header of markers without version", "{\"kind\":\"header\",\"ocular\":1,\"markers\":0}\n", 1 },
};

static void test_damage_is_counted_and_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(damages); i++) {
		struct codes c;
		struct process *p;
		char text[2048];

		snprintf(text, sizeof(text), "%s%s%s%s", HEADER(""), CODE(1, ""), damages[i].line, CODE(2, ""));
		write_table(7, text);
		assert_int_equal(codes_init(&c, dir), 0);
		p = codes_process(&c, 7);
		assert_non_null(p);
		if (c.damaged != damages[i].damaged)
			fail_msg("%s: %d damaged", damages[i].name, (int)c.damaged);
		assert_true(codes_find(&c, p, 1)->known);
		assert_true(codes_find(&c, p, 2)->known);
		codes_free(&c);
		unlink(table_path(7));
	}
}

static bool same_text(const char *a, const char *b)
{
	return !a == !b && (!a || !strcmp(a, b));
}

static void assert_same_code(const struct code *a, const struct code *b, const char *line)
{
	bool same = a->known == b->known && same_text(a->file, b->file) && same_text(a->qualname, b->qualname) &&
		    same_text(a->name, b->name) && same_text(a->owner, b->owner) && a->excluded == b->excluded &&
		    a->coroutine == b->coroutine && a->firstlineno == b->firstlineno && a->units == b->units &&
		    a->address == b->address && a->line_lookup_ns == b->line_lookup_ns && a->final == b->final &&
		    a->c == b->c && a->profiled == b->profiled && a->label == b->label && a->entry == b->entry &&
		    a->ninstrs == b->ninstrs;

	if (!same || (a->ninstrs && memcmp(a->instrs, b->instrs, a->ninstrs * sizeof(*a->instrs)) != 0))
		fail_msg("read otherwise than by jansson: %s", line);
}

/* Codes from here on: one for each line. */
#define ALIKE_FIRST 300
#define ALIKE_MOST  24

static void assert_same_codes(struct codes *a, struct codes *b, const char *lines)
{
	const struct process *p = codes_process(a, 7), *q = codes_process(b, 7);

	if (a->damaged != b->damaged)
		fail_msg("damaged otherwise than by jansson: %s", lines);
	for (uint32_t id = ALIKE_FIRST; id < ALIKE_FIRST + ALIKE_MOST; id++) {
		const struct code *one = codes_own(p, id), *other = codes_own(q, id);

		assert_int_equal(one != NULL, other != NULL);
		if (one)
			assert_same_code(one, other, lines);
	}
}

/* The same lines as they are, and with a blank before each, which makes jansson read them as a whole. */
static void assert_read_alike(const char *before, const char lines[][256], size_t n)
{
	static char text[2][65536];
	struct codes c[2];

	for (int i = 0; i < 2; i++) {
		size_t length = snprintf(text[i], sizeof(text[i]), "%s%s", HEADER(""), before);

		for (size_t l = 0; l < n; l++)
			length += snprintf(text[i] + length, sizeof(text[i]) - length, "%s%s", i ? " " : "", lines[l]);
		write_table(7, text[i]);
		assert_int_equal(codes_init(&c[i], dir), 0);
		assert_non_null(codes_process(&c[i], 7));
	}
	assert_same_codes(&c[0], &c[1], text[0]);
	codes_free(&c[0]);
	codes_free(&c[1]);
	unlink(table_path(7));
}

#define ALIKE_CODE \
	"{\"kind\":\"code\",\"id\":%u,\"file\":\"\xc3\xa9\",\"qualname\":\"f\",\"name\":\"n\",\"owner\":\"o\"," \
	"\"excluded\":true,\"address\":\"0x7f00aa\",\"units\":9,\"instructions\":[[0,12,2,-1],[20,1,9,0]]," \
	"\"line_lookup_ns\":9}\n"
#define ALIKE_FUNCTION \
	"{\"kind\":\"c_function\",\"id\":%u,\"module\":\"m\",\"qualname\":\"\xc3\xa9\",\"name\":\"n\",\"profiled\":" \
	"true}\n"
#define ALIKE_LABEL "{\"kind\":\"label\",\"id\":%u,\"name\":\"\"}\n"
#define ALIKE_STATE "{\"kind\":\"specialized\",\"id\":%u,\"opcodes\":[[0,200],[20,1]]}\n"

/* Each byte of a line becomes each of some others, one in a line. */
static void damage_each_byte(const char *before, const char *format)
{
	static const char bytes[] = "\" ,:[]{}\\-019.ekin\x01\xa9\xff";
	static char lines[ALIKE_MOST][256];
	size_t n = sizeof(bytes) - 1, length = snprintf(lines[0], sizeof(lines[0]), format, ALIKE_FIRST);

	assert_in_range(n, 1, ALIKE_MOST);
	for (size_t i = 0; i + 1 < length; i++) {
		for (size_t b = 0; b < n; b++) {
			snprintf(lines[b], sizeof(lines[b]), format, (unsigned)(ALIKE_FIRST + b));
			lines[b][i] = bytes[b];
		}
		assert_read_alike(before, lines, n);
	}
}

static void test_any_byte_damaged(void **state)
{
	static char codes[ALIKE_MOST * 256];
	size_t length = 0;

	(void)state;
	for (unsigned i = 0; i < ALIKE_MOST; i++)
		length += snprintf(codes + length, sizeof(codes) - length, ALIKE_CODE, ALIKE_FIRST + i);
	damage_each_byte("", ALIKE_CODE);
	damage_each_byte("", ALIKE_FUNCTION);
	damage_each_byte("", ALIKE_LABEL);
	damage_each_byte(codes, ALIKE_STATE);
}

static const char odd_lines[][256] = {
	"{\"kind\":\"code\",\"id\":300,\"file\":\"a,\"instructions\":[[0,1,2,-1]],b\",\"qualname\":\"f\"}\n",
	"{\"kind\":\"code\",\"id\":300,\"file\":\"a\",\"qualname\":\"f\",\"x\":{\"y\":1,\"instructions\":[[0,1,2,-1]]}}"
	"\n",
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") INSTRUCTIONS("[0,1,3,-1],[2,1,2,-1]")),
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") ",\"instructions\":5"),
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") ",\"opcodes\":[[1,2]]"),
	CODE(300, ",\"opcodes\":[[1,2]]"),
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") ",\"firstlineno\":4,\"name\":\"n\""),
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") ","),
	CODE(300, INSTRUCTIONS("[0,1,2,-1]") "}"),
	CODE(300, ",\"new\":[1]" INSTRUCTIONS("[0,1,2,-1]")),
	CODE(300, ",\"name\":\"a\\\"b\"" INSTRUCTIONS("[0,1,2,-1]")),
	CODE(300, INSTRUCTIONS("[0,1,2,-1,7]")),
	CODE(300, INSTRUCTIONS("[0,1,2,-1],[1]")),
	CODE(300, INSTRUCTIONS("[0,1,2,12345678901]")),
	CODE(300, ",\"id\":301,\"id\":300" INSTRUCTIONS("[0,1,2,-1]")),
	"{\"kind\":\"stop\",\"opcodes\":[[1,2]]}\n",
	"{\"kind\":\"import\",\"id\":300,\"name\":\"a\",\"name\":\"b\"}\n",
	"{\"kind\":\"import\",\"id\":300,\"name\":\"a\",\"module\":\"builtins\"}\n",
	"{\"kind\":\"exception\",\"id\":300,\"name\":\"a\"}\n",
	"{\"kind\":\"import\",\"id\":300,\"name\":\"a\",\"more\":[1]}\n",
	"{\"kind\":\"text\",\"id\":300,\"name\":\"a\",\"opcodes\":[[1,2]]}\n",
	"{}\n",
	"{\"kind\":\"before\",\"id\":300,\"instructions\":[[0,1,2,-1]]}\n",
};

static void test_odd_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(odd_lines); i++)
		assert_read_alike("", &odd_lines[i], 1);
}

/* The last line of a killed process may be cut anywhere. */
static void test_cut_at_every_byte(void **state)
{
	static const char text[] = HEADER(",\"argv\":[\"x\"]")
		CODE(1, INSTRUCTIONS("[0,1,2,-1]")) "{\"kind\":\"specialized\",\"id\":1,\"opcodes\":[[0,3]]}\n"
						    "{\"kind\":\"stop\",\"markers\":[[7,1]],\"lost\":0}\n";

	(void)state;
	for (size_t length = 0; length < sizeof(text); length++) {
		struct codes c;
		struct process *p;
		char cut[sizeof(text)];
		bool whole = !length || text[length - 1] == '\n' || text[length] == '\n';

		memcpy(cut, text, length);
		cut[length] = '\0';
		write_table(7, cut);
		assert_int_equal(codes_init(&c, dir), 0);
		p = codes_process(&c, 7);
		assert_non_null(p);
		assert_int_equal(c.damaged, !whole);
		assert_int_equal(c.missing, !p->found);
		codes_free(&c);
	}
	unlink(table_path(7));
}

static void test_forks_share_ids(void **state)
{
	struct codes c;
	struct process *child, *grandchild;

	(void)state;
	write_table(7, HEADER("") CODE(1, "") CODE(9, ""));
	write_table(8, "{\"kind\":\"header\",\"ocular\":1,\"pid\":8,\"first_id\":5,\"parent\":7}\n" CODE(5, "")
			       CODE(6, ""));
	write_table(9, "{\"kind\":\"header\",\"ocular\":1,\"pid\":9,\"first_id\":7,\"parent\":8}\n" CODE(7, ""));
	assert_int_equal(codes_init(&c, dir), 0);
	child = codes_process(&c, 8);
	grandchild = codes_process(&c, 9);
	assert_int_equal(codes_find(&c, child, 1)->process->pid, 7);
	assert_int_equal(codes_find(&c, child, 6)->process->pid, 8);
	assert_null(codes_find(&c, child, 9)); /* the parent made it after the fork */
	assert_int_equal(codes_find(&c, grandchild, 1)->process->pid, 7);
	assert_int_equal(codes_find(&c, grandchild, 5)->process->pid, 8);
	assert_int_equal(codes_find(&c, grandchild, 7)->process->pid, 9);
	codes_free(&c);
	for (int pid = 7; pid <= 9; pid++)
		unlink(table_path(pid));
}

#define FORK(pid)	      "{\"kind\":\"header\",\"ocular\":1,\"pid\":" #pid ",\"first_id\":4,\"parent\":7}\n"
#define SPECIALIZED(id, rows) "{\"kind\":\"specialized\",\"id\":" #id ",\"opcodes\":[" rows "]}\n"
#define BEFORE(id, rows)      "{\"kind\":\"before\",\"id\":" #id ",\"opcodes\":[" rows "]}\n"

/* Codes 1 and 2 ran in the parent too, 3 in forks only. Tables in each order: the folder's is any. */
static void test_forks_specialize_what_is_not_theirs(void **state)
{
	static const int orders[][3] = { { 7, 8, 9 }, { 9, 8, 7 }, { 8, 9, 7 }, { 9, 7, 8 } };
	struct codes c;
	struct code *code;

	(void)state;
	write_table(7, HEADER("") CODE(1, INSTRUCTIONS("[0,1,20,-1],[2,1,30,-1]"))
			       CODE(2, INSTRUCTIONS("[0,1,20,-1],[2,1,30,-1]"))
				       CODE(3, INSTRUCTIONS("[0,1,20,-1],[2,1,30,-1]")) SPECIALIZED(1, "[0,200]")
					       SPECIALIZED(2, "[2,201]"));
	write_table(8, FORK(8) SPECIALIZED(1, "[0,202],[2,203]") BEFORE(2, "[0,204]") SPECIALIZED(3, "[0,205]"));
	write_table(9, FORK(9) SPECIALIZED(1, "[0,206]") SPECIALIZED(2, "[0,207]") SPECIALIZED(3, "[2,208]"));
	for (size_t i = 0; i < COUNT(orders); i++) {
		assert_int_equal(codes_init(&c, dir), 0);
		for (int j = 0; j < 3; j++)
			assert_non_null(codes_process(&c, orders[i][j]));
		code = codes_find(&c, codes_process(&c, 8), 1);
		assert_int_equal(code->instrs[0].adaptive, 200);
		assert_int_equal(code->final_pid, 7);
		assert_int_equal(code->instrs[1].adaptive, 30);
		code = codes_find(&c, codes_process(&c, 9), 2);
		assert_int_equal(code->instrs[0].adaptive, 20);
		assert_int_equal(code->instrs[0].first, 20);
		assert_int_equal(code->instrs[1].adaptive, 201);
		code = codes_find(&c, codes_process(&c, 7), 3);
		assert_true(code->final);
		assert_int_equal(code->final_pid, 8);
		assert_int_equal(code->instrs[0].adaptive, 205);
		assert_int_equal(code->instrs[1].adaptive, 30);
		assert_int_equal(c.damaged, 1); /* `before` is told of new code alone */
		codes_free(&c);
	}
	for (int pid = 7; pid <= 9; pid++)
		unlink(table_path(pid));
}

static void test_parents_in_a_circle(void **state)
{
	struct codes c;

	(void)state;
	write_table(7, "{\"kind\":\"header\",\"ocular\":1,\"pid\":7,\"first_id\":100,\"parent\":8}\n");
	write_table(8, "{\"kind\":\"header\",\"ocular\":1,\"pid\":8,\"first_id\":100,\"parent\":7}\n");
	assert_int_equal(codes_init(&c, dir), 0);
	assert_null(codes_find(&c, codes_process(&c, 7), 5));
	codes_free(&c);
	unlink(table_path(7));
	unlink(table_path(8));
}

/* A generator expression of 3.15 has a RESUME before RETURN_GENERATOR, too: it begins at the one after that. */
static void test_where_a_generator_begins(void **state)
{
	struct codes c;
	struct code *function, *generator, *expression;

	(void)state;
	write_table(7, HEADER(",\"opnames\":[\"CACHE\",\"RESUME\",\"RETURN_GENERATOR\",\"POP_TOP\"]")
			       CODE(1, INSTRUCTIONS("[0,1,1,-1],[2,1,3,-1]"))
				       CODE(2, INSTRUCTIONS("[0,1,2,-1],[2,1,3,-1],[4,1,1,-1],[6,1,1,-1]"))
					       CODE(3, INSTRUCTIONS("[0,1,1,-1],[2,1,2,-1],[4,1,3,-1],[6,1,1,-1]")));
	assert_int_equal(codes_init(&c, dir), 0);
	function = codes_find(&c, codes_process(&c, 7), 1);
	generator = codes_find(&c, codes_process(&c, 7), 2);
	expression = codes_find(&c, codes_process(&c, 7), 3);
	assert_true(!function->generator && generator->generator && expression->generator);
	assert_int_equal(function->entry, 0);
	assert_int_equal(generator->entry, 4);
	assert_int_equal(expression->entry, 6);
	codes_free(&c);
	unlink(table_path(7));
}

#define FIRST \
	HEADER(",\"opnames\":[\"CACHE\",\"RESUME\",\"LOAD_ATTR\",\"JUMP_BACKWARD\"],\"specializable\":[2]," \
	       "\"python\":\"3.12\"")
#define SECOND HEADER(",\"opnames\":[\"CACHE\",\"SEND\",null,\"RESUME\"],\"specializable\":[1]")

/* Each program's code has its own interpreter's opcodes; the same ones in a second start change nothing. */
static void test_exec_to_another_interpreter(void **state)
{
	struct codes c;
	struct process *p;
	struct code *f, *g, *h;

	(void)state;
	write_table(7, FIRST CODE(1, INSTRUCTIONS("[0,1,2,-1],[2,1,3,0]")) FIRST CODE(2, INSTRUCTIONS("[0,1,2,-1]"))
			       SECOND CODE(3, INSTRUCTIONS("[0,1,3,-1],[2,1,1,-1]")) SPECIALIZED(2, "[0,9]"));
	assert_int_equal(codes_init(&c, dir), 0);
	p = codes_process(&c, 7);
	f = codes_find(&c, p, 1);
	g = codes_find(&c, p, 2);
	h = codes_find(&c, p, 3);
	assert_string_equal(process_opname(f->process, 2), "LOAD_ATTR");
	assert_string_equal(process_opname(h->process, 1), "SEND");
	assert_string_equal(process_opname(h->process, 2), "?");
	assert_ptr_equal(f->process, g->process);
	assert_string_equal(f->process->python, "3.12");
	assert_int_equal(f->process->pid, 7);
	assert_ptr_equal(h->process, p);
	assert_true(f->process->able[2] && !f->process->able[1]);
	assert_true(p->able[1] && !p->able[2]);
	assert_true(f->instrs[1].back_edge);
	assert_int_equal(h->entry, 0);
	assert_int_equal(g->instrs[0].adaptive, 9);
	assert_int_equal(c.damaged, 0);
	codes_free(&c);
	unlink(table_path(7));
}

/* A header with `again` as many more handlers; base opcode `odd` is its own in one CPython and not in another. */
static void write_handlers(FILE *f, unsigned from, unsigned again, unsigned odd)
{
	fprintf(f, "{\"kind\":\"header\",\"ocular\":1,\"pid\":7,\"dispatch\":{\"unused\":1,\"base\":[0");
	for (unsigned i = 1; i < 256; i++)
		fprintf(f, ",%u", i == odd ? 0 : i);
	fprintf(f, "],\"targets\":[%u", from);
	for (unsigned i = 1; i < 256; i++)
		fprintf(f, ",%u", from + i);
	fprintf(f, "],\"again\":[%u", from);
	for (unsigned i = 0; i < again; i++)
		fprintf(f, ",%u", from + 256 + i);
	fprintf(f, "]}}\n");
}

static void test_handlers_that_are_left_out_are_counted(void **state)
{
	static const struct {
		unsigned again, odd, left;
	} seconds[] = {
		{ 0, 9, 0 },
		{ DISPATCH_FULL - 512, 9, 0 },
		{ DISPATCH_FULL - 512 + 7, 9, 7 },
		{ 0, 10, 256 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(seconds); i++) {
		struct codes c;
		FILE *f = fopen(table_path(7), "w");

		assert_non_null(f);
		write_handlers(f, 1000, 0, 9);
		write_handlers(f, 100000, seconds[i].again, seconds[i].odd);
		fclose(f);
		assert_int_equal(codes_init(&c, dir), 0);
		assert_true(codes_have_dispatch(&c));
		assert_int_equal(c.handlers, seconds[i].left);
		codes_free(&c);
	}
	unlink(table_path(7));
}

static void test_unknown_ids_have_names(void **state)
{
	struct codes c;
	struct process *p;
	struct code *code;

	(void)state;
	assert_int_equal(codes_init(&c, dir), 0);
	p = codes_process(&c, 7);
	assert_int_equal(c.missing, 1);
	assert_null(codes_find(&c, p, 123));
	code = codes_find_or_make(&c, p, 123);
	assert_string_equal(code->qualname, "code 123");
	assert_string_equal(code->file, "?");
	assert_false(code->known);
	assert_ptr_equal(codes_find_or_make(&c, p, 123), code);
	assert_int_equal(c.unknown, 1);
	assert_non_null(codes_find_or_make(&c, p, 16777215));
	assert_non_null(codes_find_or_make(&c, p, 1));
	assert_ptr_equal(codes_find(&c, p, 123), code);
	codes_free(&c);
}

static void test_a_newer_table_is_refused(void **state)
{
	struct codes c;

	(void)state;
	write_table(7, "{\"kind\":\"header\",\"ocular\":2,\"pid\":7}\n");
	assert_int_equal(codes_init(&c, dir), 0);
	assert_null(codes_process(&c, 7));
	assert_non_null(strstr(c.error, "format 2"));
	assert_non_null(strstr(c.error, "newer"));
	codes_free(&c);
	unlink(table_path(7));
}

/* A trace that begins in the middle has no HELLO that would say so. */
static void test_newer_markers_are_refused(void **state)
{
	struct codes c;

	(void)state;
	write_table(7, "{\"kind\":\"header\",\"ocular\":1,\"markers\":3,\"pid\":7}\n");
	assert_int_equal(codes_init(&c, dir), 0);
	assert_null(codes_process(&c, 7));
	assert_non_null(strstr(c.error, "marker version 3"));
	assert_non_null(strstr(c.error, "newer"));
	codes_free(&c);
	unlink(table_path(7));
}

/* More names than any growth step, each its own id, the same name the same code. */
static void test_interned_names(void **state)
{
	struct codes c;
	struct process *p;
	struct code *codes[300];
	char name[16];

	(void)state;
	assert_int_equal(codes_init(&c, NULL), 0);
	p = codes_process(&c, 7);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%d", i / 2);
		codes[i] = codes_intern(p, "a.py", name, i % 2);
		assert_non_null(codes[i]);
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(codes[k], codes[i]);
	}
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%d", i / 2);
		assert_ptr_equal(codes_intern(p, "a.py", name, i % 2), codes[i]);
	}
	assert_int_equal(c.missing + c.unknown, 0);
	codes_free(&c);
}

/* Tables of pids, and what they tell, in the order in which they are asked for. */
static void test_one_machine_has_one_frequency(void **state)
{
	static const struct {
		int32_t pid;
		uint64_t hz, ticks; /* ticks of a second */
	} rows[] = { { 40, 0, 3000000000 },
		     { 9, 3000000000, 3000000000 },
		     { 8, 0, 3000000000 },
		     { 30, 2000000000, 2000000000 } };
	struct ticks t = { 0 };
	struct codes c;
	char text[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), HEADER(",\"tsc_hz\":%llu"), (unsigned long long)rows[i].hz);
		if (i)
			write_table(rows[i].pid, text);
	}
	assert_int_equal(codes_init(&c, dir), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(ticks_at(&t, &c, rows[i].pid, 1000000000), rows[i].ticks);
	codes_free(&c);
	assert_int_equal(codes_init(&c, NULL), 0);
	assert_int_equal(ticks_at(&(struct ticks){ 0 }, &c, 40, 1000000000), 1000000000);
	codes_free(&c);
	for (size_t i = 1; i < COUNT(rows); i++)
		unlink(table_path(rows[i].pid));
}

#define PIECE(number, name) \
	"{\"kind\":\"piece\",\"number\":" #number ",\"file\":\"" name "\",\"words\":1" #number ",\"most\":3}\n"
#define SWITCH(number) "{\"kind\":\"switch\",\"number\":" #number "}\n"

#define COSTS "{\"kind\":\"callbacks\",\"cycles\":[{\"JUMP\":44,\"LINE\":60},{\"JUMP\":40},{\"JUMP\":0,\"LINE\":-1}]}\n"

/* In the place of what the header said; a start in the same file begins anew. */
static void test_callbacks_at_several_times(void **state)
{
	struct codes c;
	struct process *p;

	(void)state;
	for (int again = 0; again < 2; again++) {
		write_table(7, again ? HEADER("") COSTS HEADER(",\"callback_cycles\":{\"JUMP\":70}")
				     : HEADER(",\"callback_cycles\":{\"JUMP\":39,\"CALL\":9}") COSTS);
		assert_int_equal(codes_init(&c, dir), 0);
		p = codes_process(&c, 7);
		assert_callback(p, OP_JUMP, again ? 70 : 40, again ? 70 : 44);
		assert_callback(p, OP_LINE, again ? 0 : 60, again ? 0 : 60);
		assert_callback(p, OP_CALL, 0, 0);
		codes_free(&c);
	}
	unlink(table_path(7));
}

/* Of five files three were kept; two processes tell, none of them all. */
static void test_pieces(void **state)
{
	static const char *const before = HEADER("") PIECE(0, "a") SWITCH(1) PIECE(1, "b") SWITCH(2) PIECE(2, "c");
	static const char *const after = HEADER("") PIECE(2, "c") SWITCH(3) PIECE(3, "x") SWITCH(4) PIECE(4, "d");
	static const struct {
		const char *file;
		uint64_t words;	  /* 0: nothing is known of it */
		unsigned missing; /* with x and d in the folder */
	} rows[] = { { "a", 10, 0 }, { "b", 11, 0 }, { "x", 13, 1 }, { "c", 12, 0 },
		     { "d", 14, 1 }, { "e", 0, 0 },  { NULL, 0, 0 } };
	char path[2][sizeof(dir) + 8];
	struct codes c;

	(void)state;
	write_table(7, before);
	write_table(8, after);
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%s", dir, i ? "d" : "x");
		fclose(fopen(path[i], "w"));
	}
	assert_int_equal(codes_init(&c, dir), 0);
	assert_int_equal(codes_read_all(&c), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(codes_words(&c, rows[i].file), rows[i].words);
		assert_int_equal(codes_missing_pieces(&c, rows[i].file), rows[i].missing);
	}
	codes_free(&c);
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	unlink(table_path(7));
	unlink(table_path(8));
}

/* Whatever its name is by now. */
static void test_the_only_piece(void **state)
{
	struct codes c;

	(void)state;
	write_table(7, HEADER("") PIECE(0, "perf.data"));
	assert_int_equal(codes_init(&c, dir), 0);
	assert_int_equal(codes_read_all(&c), 0);
	assert_int_equal(codes_words(&c, "renamed"), 10);
	assert_int_equal(codes_words(&c, NULL), 10);
	assert_int_equal(codes_missing_pieces(&c, "renamed"), 0);
	codes_free(&c);
	unlink(table_path(7));
}

#define C_FUNCTION(id, more) "{\"kind\":\"c_function\",\"id\":" #id more "}\n"

static void test_c_functions(void **state)
{
	static const struct {
		const char *qualname, *name;
		bool profiled;
	} rows[] = {
		{ "zlib.compress", "<built-in method zlib.compress>", true },
		{ "len", "<built-in method builtins.len>", true },
		{ "Point", "Point", false },
		{ "a.b.__call__", "__call__", false },
	};
	struct codes c;
	struct process *p;

	(void)state;
	write_table(7, HEADER("") C_FUNCTION(1, ",\"type\":\"function\",\"module\":\"zlib\",\"qualname\":\"compress\","
						"\"name\":\"<built-in method zlib.compress>\",\"profiled\":true")
			       C_FUNCTION(2, ",\"module\":\"builtins\",\"qualname\":\"len\","
					     "\"name\":\"<built-in method builtins.len>\",\"profiled\":true")
				       C_FUNCTION(3, ",\"qualname\":\"Point\"")
					       C_FUNCTION(4, ",\"module\":\"a\",\"qualname\":\"b.__call__\",\"name\":7")
						       C_FUNCTION(5, ",\"module\":\"a\"")
							       C_FUNCTION(4, ",\"qualname\":\"again\""));
	assert_int_equal(codes_init(&c, dir), 0);
	p = codes_process(&c, 7);
	assert_non_null(p);
	for (uint32_t id = 1; id <= COUNT(rows); id++) {
		const struct code *code = codes_find(&c, p, id);

		assert_true(code && code->known && code->c);
		assert_string_equal(code->file, CODE_C_FILE);
		assert_string_equal(code->qualname, rows[id - 1].qualname);
		assert_string_equal(code_name(code), rows[id - 1].name);
		assert_int_equal(code->profiled, rows[id - 1].profiled);
	}
	assert_null(codes_find(&c, p, 5));
	assert_int_equal(c.damaged, 2);
	codes_free(&c);
	unlink(table_path(7));
}

static void append_table(int pid, const char *text)
{
	FILE *f = fopen(table_path(pid), "a");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* While the table is being written a line may be half there, and a process may have no table yet. */
static void test_tables_that_grow(void **state)
{
	struct codes c;
	struct process *p;

	(void)state;
	assert_int_equal(codes_init(&c, dir), 0);
	c.grows = true;
	p = codes_process(&c, 7);
	assert_non_null(p);
	assert_int_equal(c.missing, 1);
	write_table(7, HEADER("") "{\"kind\":\"code\",\"id\":1,\"file\":\"a.py\",\"qualname\":\"first\"" INSTRUCTIONS(
			       "") "}\n{\"kind\":\"code\",\"id\":2,\"fi");
	assert_int_equal(codes_more(&c), 0);
	assert_int_equal(c.missing, 0);
	assert_string_equal(codes_find(&c, p, 1)->qualname, "first");
	assert_null(codes_find(&c, p, 2));
	append_table(7, "le\":\"a.py\",\"qualname\":\"second\"" INSTRUCTIONS("") "}\n");
	assert_int_equal(codes_more(&c), 0);
	assert_int_equal(codes_more(&c), 0);
	assert_string_equal(codes_find(&c, p, 2)->qualname, "second");
	assert_int_equal(c.damaged, 0);
	codes_free(&c);
	unlink(table_path(7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_read),
		cmocka_unit_test(test_c_functions),
		cmocka_unit_test(test_damage_is_counted_and_left_out),
		cmocka_unit_test(test_any_byte_damaged),
		cmocka_unit_test(test_odd_lines),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_forks_share_ids),
		cmocka_unit_test(test_forks_specialize_what_is_not_theirs),
		cmocka_unit_test(test_parents_in_a_circle),
		cmocka_unit_test(test_where_a_generator_begins),
		cmocka_unit_test(test_exec_to_another_interpreter),
		cmocka_unit_test(test_handlers_that_are_left_out_are_counted),
		cmocka_unit_test(test_unknown_ids_have_names),
		cmocka_unit_test(test_a_newer_table_is_refused),
		cmocka_unit_test(test_newer_markers_are_refused),
		cmocka_unit_test(test_interned_names),
		cmocka_unit_test(test_one_machine_has_one_frequency),
		cmocka_unit_test(test_callbacks_at_several_times),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_the_only_piece),
		cmocka_unit_test(test_tables_that_grow),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
