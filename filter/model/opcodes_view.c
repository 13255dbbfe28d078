// SPDX-License-Identifier: MIT
#include "opcodes_view.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"

static const struct {
	const char *name;
	enum opcodes_order order;
} orders[] = {
	{ "time", OPCODES_BY_TIME },	{ "tottime", OPCODES_BY_TIME },	    { "calls", OPCODES_BY_COUNT },
	{ "ncalls", OPCODES_BY_COUNT }, { "percall", OPCODES_BY_PER_CALL }, { "name", OPCODES_BY_NAME },
	{ "stdname", OPCODES_BY_NAME },
};

static bool parse_order(enum opcodes_order *order, const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (strlen(orders[i].name) == length && !strncmp(orders[i].name, text, length)) {
			*order = orders[i].order;
			return true;
		}
	return false;
}

static bool is_number(const char *text, bool fraction)
{
	size_t digits = strspn(text, "0123456789");

	if (fraction && text[digits] == '.')
		digits += 1 + strspn(text + digits + 1, "0123456789");
	else if (fraction)
		return false;
	return digits && !text[digits] && strcmp(text, ".");
}

static bool is_limit(const char *text)
{
	regex_t expression;

	if (is_number(text, true))
		return strtod(text, NULL) <= 1;
	if (is_number(text, false))
		return strlen(text) < 10;
	if (!*text || regcomp(&expression, text, REG_EXTENDED | REG_NOSUB))
		return false;
	regfree(&expression);
	return true;
}

/* Takes "chains:N" and the colon behind it, if *text begins so. False: N is not valid. */
static bool parse_chains(unsigned *chains, const char **text)
{
	static const char key[] = "chains:";
	const char *number;

	if (strncmp(*text, key, strlen(key)))
		return true;
	number = *text + strlen(key);
	*chains = *number - '0';
	*text = number[0] && number[1] == ':' ? number + 2 : number[0] && !number[1] ? "time" : "";
	return *chains >= CHAINS_SHORTEST && *chains <= CHAINS_LONGEST;
}

bool opcodes_view_parse(struct opcodes_view *v, const char *text)
{
	char copy[OPCODES_VIEW_SIZE], *rest = copy;
	size_t length;

	*v = (struct opcodes_view){ 0 };
	if (!parse_chains(&v->chains, &text))
		return false;
	length = strcspn(text, ":");
	if (!parse_order(&v->order, text, length))
		return false;
	text += length + (text[length] == ':');
	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(v->limits, text);
	strcpy(copy, text);
	for (char *limit; *text && (limit = strsep(&rest, ":"));)
		if (!is_limit(limit))
			return false;
	v->wanted = true;
	return true;
}

/* Keeps the rows whose names match the expression. */
static uint32_t matching(const struct opcodes *o, const char *text, uint32_t *rows, uint32_t n)
{
	regex_t expression;
	uint32_t kept = 0;

	if (regcomp(&expression, text, REG_EXTENDED | REG_NOSUB))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!regexec(&expression, o->rows[rows[i]].base, 0, NULL, 0) ||
		    !regexec(&expression, o->rows[rows[i]].specialized, 0, NULL, 0))
			rows[kept++] = rows[i];
	regfree(&expression);
	return kept;
}

/* Shares round to the nearest row, halves up, as in pstats. */
static uint32_t restricted(const struct opcodes *o, const char *limit, uint32_t *rows, uint32_t n)
{
	uint32_t wanted;

	if (is_number(limit, true))
		wanted = n * strtod(limit, NULL) + 0.5;
	else if (is_number(limit, false))
		wanted = strtoul(limit, NULL, 10);
	else
		return matching(o, limit, rows, n);
	return wanted < n ? wanted : n;
}

uint32_t opcodes_view_rows(const struct opcodes_view *v, const struct opcodes *o, uint32_t most, uint32_t *rows)
{
	char copy[OPCODES_VIEW_SIZE], *rest = copy;
	uint32_t n = o->nrows;

	for (uint32_t i = 0; i < n; i++)
		rows[i] = i;
	if (!*v->limits)
		return n < most ? n : most;
	strcpy(copy, v->limits);
	for (char *limit; (limit = strsep(&rest, ":"));)
		n = restricted(o, limit, rows, n);
	return n;
}
