// SPDX-License-Identifier: MIT
/* The time between two INSTRUCTION events of a thread is the first one's, calls included. */
#include "charge.h"

#include <errno.h>

#include "loop.h"

/* The time since the running instruction began, or since none is known. */
static void charge(struct charged *c, uint64_t ns, uint64_t cycles, struct profile *p)
{
	struct instr_cost *cost = c->instr ? c->instr : &p->no_opcode;
	struct instr_form *form = c->instr && c->form ? instr_cost_form(cost, c->form) : NULL;

	cost->timed++;
	cost->ns += ns - c->ns;
	cost->cycles += cycles - c->cycles;
	if (form) { /* made when it began */
		form->timed++;
		form->ns += ns - c->ns;
		form->cycles += cycles - c->cycles;
	}
	if (c->instr && c->before)
		c->before->followers[c->follower].ns += ns - c->ns;
	c->ns = ns;
	c->cycles = cycles;
}

/* An instruction of code without bytecode has no place, and its opcode has no name. */
static void begin_unknown(struct charged *c, struct profile *p)
{
	c->instr = &p->unknown_opcode;
	c->instr->n++;
	c->form = 0;
}

static int begin_form(const struct sample *s, const struct instr *instr, struct instr_cost *cost, struct forms *forms)
{
	struct instr_form *form = instr_cost_form(cost, s->opcode);

	if (!form)
		return -ENOMEM;
	if (!form->n++)
		form->kind = form_kind(s->code, instr, s->opcode);
	return forms_ran(forms, instr, cost, form, s);
}

static int begin(struct charged *c, const struct sample *s, const struct instr *instr, struct instr_cost *cost,
		 struct profile *p)
{
	if (s->opcode && begin_form(s, instr, cost, &p->forms))
		return -ENOMEM;
	cost->n++;
	c->instr = cost;
	c->form = s->opcode;
	c->ran = s->opcode ? s->opcode : instr->adaptive;
	return 0;
}

/* What ran next after `before`: what is running, of which `from` ran. */
static int follow(struct charged *c, struct instr_cost *before, uint8_t from, uint8_t base)
{
	c->follower = instr_cost_follow(before, (struct follower){ .from = from, .base = base, .adaptive = c->ran });
	if (c->follower < 0)
		return -ENOMEM;
	c->before = before;
	return 0;
}

int charge_next(struct charged *c, const struct sample *s, struct profile *p)
{
	struct instr_cost *before = c->instr, *cost = function_cost(s->code, s->offset);
	bool follows = before && before != &p->unknown_opcode;
	const struct instr *instr;
	uint8_t from = c->ran;
	int err;

	charge(c, s->time, s->cycles, p);
	c->before = NULL;
	if (!cost) {
		begin_unknown(c, p);
		return 0;
	}
	instr = &s->code->instrs[cost - s->code->function->costs];
	err = begin(c, s, instr, cost, p);
	if (follows && !err)
		err = follow(c, before, from, instr->base);
	if (err || !p->chains)
		return err;
	if (!follows)
		chains_break(&c->chain);
	return chains_next(p->chains, &c->chain, s->code->process, instr->base, c->ran);
}

void charge_last(struct charged *c, uint64_t ns, uint64_t cycles, struct profile *p)
{
	charge(c, ns, cycles, p);
	c->instr = NULL;
}

static void charge_frame(struct frame *f, struct off d)
{
	off_add(&f->a.off, d);
	if (!f->recursive)
		off_add(&f->a.code->function->total_off, d);
}

void charge_off(struct stack *stacks, const struct stack *inner, struct off d)
{
	if (inner) {
		off_add(&stack_top(inner)->a.code->function->self_off, d);
		if (stack_top(inner)->line)
			stack_top(inner)->line->waiting_ns += d.waiting_ns;
	}
	for (struct stack *s = stacks; s; s = s->next) {
		for (uint32_t i = 0; i < s->nframes; i++)
			charge_frame(&s->frames[i], d);
		for (uint32_t i = 0; i < s->nloops; i++)
			loop_off(s->loops[i], d);
	}
}
