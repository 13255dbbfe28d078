// SPDX-License-Identifier: MIT
/* Written at the end, from the summary's table, in its order. */
#include "sink_opcodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "marshal.h"
#include "model/opcodes.h"
#include "model/sink_file.h"
#include "npz.h"

#define MATRIX_MOST 4096 /* opcodes, each with a name of its own: an interpreter has 256 at most */

/* --- pstats -------------------------------------------------------------------------------------------- */

/* As pstats names what is in no file, and as the report names opcodes. */
static void put_key(struct out *o, const struct opcode_row *row)
{
	bool special = strcmp(row->base, row->specialized) != 0;
	char name[256];

	snprintf(name, sizeof(name), "%s%s%s", row->base, special ? " -> " : "", special ? row->specialized : "");
	marshal_tuple(o, 3);
	marshal_str(o, "~");
	marshal_int(o, 0);
	marshal_str(o, name);
}

/* None is recursive; total time is self time. */
static void put_figures(struct out *o, uint64_t n, uint64_t ns)
{
	marshal_int(o, n);
	marshal_int(o, n);
	marshal_float(o, ns / 1e9);
	marshal_float(o, ns / 1e9);
}

static void put_before(struct out *o, const struct opcodes *t, uint32_t row)
{
	marshal_dict(o);
	for (uint32_t i = 0; i < t->npairs; i++) {
		if (t->pairs[i].to != row)
			continue;
		put_key(o, &t->rows[t->pairs[i].from]);
		marshal_tuple(o, 4);
		put_figures(o, t->pairs[i].n, t->pairs[i].ns);
	}
	marshal_end_dict(o);
}

static int write_pstats(struct out *o, const struct opcodes *t)
{
	marshal_dict(o);
	for (uint32_t i = 0; i < t->nrows; i++) {
		put_key(o, &t->rows[i]);
		marshal_tuple(o, 5);
		put_figures(o, t->rows[i].n, t->rows[i].ns);
		put_before(o, t, i);
	}
	marshal_end_dict(o);
	return 0;
}

/* --- arrays -------------------------------------------------------------------------------------------- */

static const char *name_of(const struct opcode_row *row, bool specialized)
{
	return specialized ? row->specialized : row->base;
}

static int put_names(struct npz *z, const struct opcodes *t, bool specialized)
{
	size_t longest = 1, length;
	uint32_t *text;

	for (uint32_t i = 0; i < t->nrows; i++) {
		length = strlen(name_of(&t->rows[i], specialized));
		longest = length > longest ? length : longest;
	}
	text = calloc(t->nrows * longest + 1, sizeof(*text));
	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nrows; i++)
		for (const char *c = name_of(&t->rows[i], specialized), *at = c; *c; c++)
			text[i * longest + (c - at)] = *c & 0x80 ? '?' : *c; /* CPython has ASCII alone */
	npz_array(z, specialized ? "specialized" : "opcode", (struct npz_type){ 'U', longest * sizeof(*text) },
		  t->nrows, 0, text);
	free(text);
	return 0;
}

static const struct npz_type numbers = { 'u', sizeof(uint64_t) };

static const struct {
	const char *name;
	size_t field;
} columns[] = {
	{ "count", offsetof(struct opcode_row, n) },
	{ "timed", offsetof(struct opcode_row, timed) },
	{ "ns", offsetof(struct opcode_row, ns) },
	{ "cycles", offsetof(struct opcode_row, cycles) },
}, matrices[] = {
	{ "pairs", offsetof(struct opcode_pair, n) },
	{ "pairs_ns", offsetof(struct opcode_pair, ns) },
};

static uint64_t field_of(const void *object, size_t field)
{
	return *(const uint64_t *)((const char *)object + field);
}

static void put_column(struct npz *z, size_t i, const struct opcodes *t, uint64_t *room)
{
	for (uint32_t k = 0; k < t->nrows; k++)
		room[k] = field_of(&t->rows[k], columns[i].field);
	npz_array(z, columns[i].name, numbers, t->nrows, 0, room);
}

static void put_matrix(struct npz *z, size_t i, const struct opcodes *t, uint64_t *room)
{
	memset(room, 0, (size_t)t->nrows * t->nrows * sizeof(*room));
	for (const struct opcode_pair *p = t->pairs; p < t->pairs + t->npairs; p++)
		room[(size_t)p->from * t->nrows + p->to] = field_of(p, matrices[i].field);
	npz_array(z, matrices[i].name, numbers, t->nrows, t->nrows, room);
}

static int write_arrays(struct out *o, const struct opcodes *t)
{
	struct npz z = { .out = o };
	uint64_t *room = t->nrows > MATRIX_MOST ? NULL : calloc((size_t)t->nrows * t->nrows + 1, sizeof(*room));
	int err = room ? put_names(&z, t, false) : -ENOMEM;

	err = err ?: put_names(&z, t, true);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && !err; i++)
		put_column(&z, i, t, room);
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]) && !err; i++)
		put_matrix(&z, i, t, room);
	free(room);
	npz_end(&z);
	return err;
}

/* --- the sinks ----------------------------------------------------------------------------------------- */

/* An empty file could be opened, but would look like that of a program that ran no opcode. */
static int fail_unknown(struct sink *s)
{
	snprintf(s->error, SINK_ERROR,
		 "cannot write %s: no opcodes are known; record in mode adaptive, precise, full or opcodes",
		 ((struct sink_file *)s)->out.path);
	return -ENODATA;
}

static int finish(struct sink *s, const struct profile *p, int (*write)(struct out *o, const struct opcodes *t))
{
	struct opcodes t = { .source = opcodes_source(p) };
	int err;

	if (t.source == OPCODES_UNKNOWN)
		return fail_unknown(s);
	err = opcodes_add_program(&t, p);
	opcodes_sort(&t, OPCODES_BY_TIME);
	err = err ?: write(&((struct sink_file *)s)->out, &t);
	opcodes_free(&t);
	return err ? sink_file_no_memory(s) : sink_file_close(s);
}

static int pstats_finish(struct sink *s, const struct profile *p)
{
	return finish(s, p, write_pstats);
}

static int arrays_finish(struct sink *s, const struct profile *p)
{
	return finish(s, p, write_arrays);
}

static const struct sink_ops pstats_ops = { .finish = pstats_finish, .free = sink_file_free };
static const struct sink_ops arrays_ops = { .finish = arrays_finish, .free = sink_file_free };

int sink_opcode_pstats_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct sink_file), &pstats_ops, o, error);
}

int sink_opcode_arrays_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct sink_file), &arrays_ops, o, error);
}
