// SPDX-License-Identifier: MIT
/* For programs. jansson's packing returns NULL if a part is NULL, so memory is checked once. */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "diff_out.h"
#include "base/json.h"

#define REAL_DIGITS 9 /* shares and means are not known more exactly; counts are whole numbers, and exact */

static json_int_t whole(double n)
{
	return llround(n);
}

/* clang-format off */
static json_t *side(const struct diff_side *s)
{
	return json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I}",
			 "name", json_text(s->name),
			 "argv", s->argv,
			 "python", s->python,
			 "mode", s->mode,
			 "traced_ns", whole(s->traced_ns),
			 "traced_cycles", whole(s->traced_cycles),
			 "losses", (json_int_t)s->losses);
}

static json_t *item(const struct diff_item *i)
{
	if (!i)
		return json_null();
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}",
			 "file", i->file,
			 "qualname", i->qualname,
			 "firstlineno", (json_int_t)i->firstlineno,
			 "line", (json_int_t)i->line,
			 "head_offset", (json_int_t)i->head,
			 "times", whole(i->times),
			 "timed", whole(i->n),
			 "share", i->share,
			 "mean", i->mean,
			 "wall_mean", i->wall_mean > 0 ? i->wall_mean : i->mean,
			 "deviation", i->deviation,
			 "median", i->median < 0 ? json_null() : json_real(i->median),
			 "p99", i->p99 < 0 ? json_null() : json_real(i->p99));
}

static void add_opcode(const struct diff_opcode *o, void *to)
{
	json_array_append_new(to, json_pack("{s:I, s:I, s:s, s:s, s:s}",
					    "offset", (json_int_t)o->offset,
					    "line", (json_int_t)o->line,
					    "opcode", o->base,
					    "a", o->a,
					    "b", o->b));
}
/* clang-format on */

/* clang-format off */
static json_t *specialization(const struct diff_pair *p)
{
	struct diff_specialized s;

	if (!diff_specialized(p, &s))
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}",
			 "a", (json_int_t)s.a,
			 "b", (json_int_t)s.b,
			 "base_a", (json_int_t)s.base_a,
			 "base_b", (json_int_t)s.base_b);
}

static json_t *totals(const struct diff_report *r)
{
	json_t *o = json_object();

	for (size_t i = 0; i < DIFF_TOTALS; i++) {
		const struct diff_total *t = &r->totals[i];

		if (t->known)
			json_object_set_new(o, t->key,
					    json_pack("{s:I, s:I, s:f, s:b, s:b}",
						      "a", whole(t->a),
						      "b", whole(t->b),
						      "change", t->change,
						      "exact", t->exact,
						      "over", t->over));
	}
	return o;
}

static json_t *counts(const struct diff_report *r)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->ncounts; i++)
		array = json_append(array, json_pack("{s:s, s:s, s:I, s:I}",
							     "opcode", r->counts[i].base,
							     "specialized", r->counts[i].specialized,
							     "a", whole(r->counts[i].a),
							     "b", whole(r->counts[i].b)));
	return array;
}
/* clang-format on */

/* null where there is nothing to compare. */
static json_t *specialized(const struct diff_pair *p)
{
	json_t *array = json_array();

	if (diff_opcodes(p, add_opcode, array) >= 0)
		return array;
	json_decref(array);
	return json_null();
}

/* clang-format off */
static json_t *pair(const struct diff_pair *p)
{
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:b, s:o, s:o, s:o, s:o}",
			 "verdict", diff_verdict_names[p->verdict],
			 "matched", p->how,
			 "change", p->change,
			 "error", p->error,
			 "weight", p->weight,
			 "over", p->over,
			 "a", item(p->a),
			 "b", item(p->b),
			 "specialized", specialized(p),
			 "specialization", specialization(p));
}
/* clang-format on */

static json_t *pairs(const struct diff *d, enum diff_kind kind)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->n[kind]; i++)
		array = json_append(array, pair(&d->pairs[kind][i]));
	return array;
}

int diff_json(FILE *f, const struct diff_report *r)
{
	/* clang-format off */
	json_t *o = json_pack("{s:i, s:o, s:o, s:s, s:b, s:f, s:f, s:f, s:I, s:o, s:o, s:o, s:s?, s:o}",
			      "schema", DIFF_SCHEMA,
			      "a", side(r->a),
			      "b", side(r->b),
			      "clock", r->a->clock,
			      "cpu", r->cpu,
			      "scale", r->scale,
			      "fail_over", r->rules.fail_over,
			      "share", r->rules.share,
			      "over", (json_int_t)(r->diff->over + r->totals_over),
			      "loops", pairs(r->diff, DIFF_LOOPS),
			      "functions", pairs(r->diff, DIFF_FUNCTIONS),
			      "totals", totals(r),
			      "opcodes_are", diff_counts_source(r->a, r->b),
			      "opcodes", counts(r));
	/* clang-format on */
	int err = o ? 0 : -ENOMEM;

	if (o && json_dumpf(o, f, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(REAL_DIGITS)))
		err = ferror(f) ? -EIO : -ENOMEM;
	json_decref(o);
	fputs(err ? "" : "\n", f);
	return err;
}
