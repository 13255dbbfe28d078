/* SPDX-License-Identifier: MIT */
/*
 * test_heads.c - which loop of the source a back-edge repeats.
 *
 * Bytecode is written as the compiler of CPython 3.12 and 3.13 makes it, "LINE NAME [TARGET]; ..." with an
 * instruction each two bytes; offsets count from behind the RESUME that all code begins with. What is wanted is
 * "OFFSET>HEAD:LINE" of each back-edge, "OFFSET>none" if it repeats nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "code/heads.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	const char *name, *bytecode, *loops;
} rows[] = {
	{ "a for", "2 GET_ITER; 2 FOR_ITER 8; 2 STORE; 3 JUMP_BACKWARD 2; 2 END_FOR", "6>2:2" },
	{ "a for over several lines", "3 GET_ITER; 3 FOR_ITER 8; 2 STORE; 4 JUMP_BACKWARD 2; 2 END_FOR", "6>2:2" },
	{ "a far one", "2 GET_ITER; 2 EXTENDED_ARG; 2 FOR_ITER 10; 2 STORE; 3 JUMP_BACKWARD 2; 2 END_FOR", "8>2:2" },
	{ "an await", "2 SEND 8; 2 YIELD_VALUE; 2 RESUME; 2 CLEANUP_THROW; 2 END_SEND; 2 JUMP_BACKWARD 8", "10>none" },
	/* while a: b */
	{ "a while",
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 12; 3 CALL; 2 LOAD; 2 POP_JUMP_IF_FALSE 12; 2 JUMP_BACKWARD 4; 4 RETURN_CONST",
	  "10>4:2" },
	/* while a: if b: continue; c */
	{ "a while with continue",
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 18; 3 LOAD; 3 POP_JUMP_IF_FALSE 10; 4 JUMP_BACKWARD 0; 5 CALL; "
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 18; 2 JUMP_BACKWARD 4; 6 RETURN_CONST",
	  "8>0:2 16>0:2" },
	/* while True: if b: continue; c */
	{ "a while True", "2 NOP; 3 LOAD; 3 POP_JUMP_IF_FALSE 8; 4 JUMP_BACKWARD 0; 5 CALL; 2 JUMP_BACKWARD 2",
	  "6>0:2 10>0:2" },
	/* while a \n or b: c */
	{ "a test of two lines",
	  "2 LOAD; 2 POP_JUMP_IF_TRUE 8; 3 LOAD; 3 POP_JUMP_IF_FALSE 22; 4 CALL; 2 LOAD; 2 POP_JUMP_IF_FALSE 16; "
	  "2 JUMP_BACKWARD 8; 3 LOAD; 3 POP_JUMP_IF_FALSE 22; 3 JUMP_BACKWARD 8; 5 RETURN_CONST",
	  "14>8:2 20>8:2" },
	/* while a: while b: if c: continue; d */
	{ "a while whose body is a while with continue",
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 28; 3 LOAD; 3 POP_JUMP_IF_FALSE 22; 4 LOAD; 4 POP_JUMP_IF_FALSE 14; 5 "
	  "JUMP_BACKWARD 4; "
	  "6 CALL; 3 LOAD; 3 POP_JUMP_IF_FALSE 22; 3 JUMP_BACKWARD 8; 2 LOAD; 2 POP_JUMP_IF_FALSE 28; 2 JUMP_BACKWARD "
	  "4; "
	  "7 RETURN_CONST",
	  "12>4:3 20>4:3 26>0:2" },
	/* for a in b: try: c except D: pass; e */
	{ "what follows a try",
	  "2 GET_ITER; 2 FOR_ITER 12; 2 STORE; 4 CALL; 7 CALL; 7 JUMP_BACKWARD 2; 2 END_FOR; 2 RETURN_CONST; "
	  "5 PUSH_EXC_INFO!; 5 CHECK_EXC_MATCH; 6 POP_EXCEPT; 6 JUMP_BACKWARD 8",
	  "10>2:2 22>none" },
	/* while a: try: b except C: continue; d */
	{ "a handler that continues",
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 14; 4 CALL; 7 CALL; 2 LOAD; 2 POP_JUMP_IF_FALSE 14; 2 JUMP_BACKWARD 4; 8 "
	  "RETURN_CONST; "
	  "5 PUSH_EXC_INFO!; 5 CHECK_EXC_MATCH; 6 POP_EXCEPT; 6 JUMP_BACKWARD 0",
	  "12>0:2 22>0:2" },
	/* while a: try: b except C: pass */
	{ "a handler at whose end the test is made",
	  "2 LOAD; 2 POP_JUMP_IF_FALSE 12; 4 CALL; 2 LOAD; 2 POP_JUMP_IF_FALSE 12; 2 JUMP_BACKWARD 4; 7 RETURN_CONST; "
	  "5 PUSH_EXC_INFO!; 5 CHECK_EXC_MATCH; 6 POP_EXCEPT; 6 JUMP_BACKWARD 6",
	  "10>4:2 20>none" },
	{ "no lines", "0 LOAD; 0 CALL; 0 JUMP_BACKWARD 2", "4>2:0" },
};

struct made {
	struct process process;
	struct code code;
	struct instr instrs[32];
};

static uint8_t number_of(struct process *p, const char *name)
{
	uint8_t found = process_opcode(p, name);

	for (int op = 1; !found && op < 256; op++)
		if (!p->opnames[op]) {
			p->opnames[op] = strdup(name);
			found = op;
		}
	return found;
}

static void make(struct made *m, const char *bytecode)
{
	*m = (struct made){ .code.instrs = m->instrs };
	m->instrs[m->code.ninstrs++] =
		(struct instr){ .line = 1, .target = -1, .base = number_of(&m->process, "RESUME") };
	for (const char *at = bytecode; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL) {
		struct instr *in = &m->instrs[m->code.ninstrs];
		char name[32];
		int line, target = -1;

		assert_in_range(sscanf(at, " %d %31[A-Z_]%*[!] %d", &line, name, &target), 1, 3);
		if (target < 0)
			sscanf(at, " %d %31[A-Z_] %d", &line, name, &target);
		*in = (struct instr){ .offset = 2 * m->code.ninstrs++,
				      .line = line,
				      .target = target < 0 ? -1 : target + 2 };
		in->base = number_of(&m->process, name);
		in->back_edge = !strcmp(name, "JUMP_BACKWARD");
		in->handler = !strcmp(name, "PUSH_EXC_INFO");
	}
}

static void tell(FILE *f, const struct made *m)
{
	for (uint32_t i = 0; i < m->code.ninstrs; i++) {
		const struct instr *in = &m->instrs[i];
		const struct back_edge *edge = code_back_edge(&m->code, in->offset);

		assert_int_equal(edge != NULL, in->back_edge);
		if (!edge)
			continue;
		fprintf(f, "%s%u>", ftell(f) ? " " : "", in->offset - 2);
		if (code_head(&m->code, in) < 0)
			fputs("none", f);
		else
			fprintf(f, "%d:%d", (int)code_head(&m->code, in) - 2, edge->line);
	}
	assert_null(code_back_edge(&m->code, -1));
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[256] = "";
		FILE *f = fmemopen(text, sizeof(text), "w");
		struct made m;

		make(&m, rows[i].bytecode);
		assert_int_equal(heads_mark(&m.process, &m.code), 0);
		tell(f, &m);
		fclose(f);
		for (int op = 0; op < 256; op++)
			free(m.process.opnames[op]);
		pool_free(&m.process.pool);
		if (strcmp(text, rows[i].loops))
			fail_msg("%s: got '%s', want '%s'", rows[i].name, text, rows[i].loops);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
