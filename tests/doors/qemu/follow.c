/* SPDX-License-Identifier: MIT */
/*
 * follow.c - libipt's instruction decoder over one trace of a recording: how many instructions ran, how
 * many PTWRITEs it met, and everything that did not fit.
 *
 *   follow TRACE [FROM TO] -- START SIZE OFFSET FILE ...    numbers hexadecimal
 *
 * Prints "instructions N words N errors N"; each error on stderr. FROM TO: addresses whose instructions
 * are written to stdout first, one a line, relative to FROM.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <intel-pt.h>

struct counts {
	uint64_t instructions, words, errors;
};

static uint8_t *read_trace(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;

	if (!f || fseek(f, 0, SEEK_END))
		exit(2);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, f) != *size)
		exit(2);
	fclose(f);
	return bytes;
}

static uint64_t hex(const char *text)
{
	return strtoull(text, NULL, 16);
}

static struct pt_image *read_images(char **argv)
{
	struct pt_image *image = pt_image_alloc(NULL);

	for (; image && argv[0]; argv += 4)
		if (pt_image_add_file(image, argv[3], hex(argv[2]), hex(argv[1]), NULL, hex(argv[0])) < 0)
			fprintf(stderr, "cannot add %s\n", argv[3]);
	return image;
}

static void count_error(struct pt_insn_decoder *dec, int err, uint64_t ip, struct counts *c)
{
	uint64_t offset = 0;

	pt_insn_get_offset(dec, &offset);
	fprintf(stderr, "%#" PRIx64 " at byte %#" PRIx64 ": %s\n", ip, offset, pt_errstr(pt_errcode(err)));
	c->errors++;
}

static int take_events(struct pt_insn_decoder *dec, int status, struct counts *c)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(dec, &event, sizeof(event));
		c->words += status >= 0 && event.type == ptev_ptwrite;
	}
	return status;
}

static void follow(struct pt_insn_decoder *dec, uint64_t from, uint64_t to, struct counts *c)
{
	struct pt_insn insn = { 0 };
	int status;

	for (;;) {
		status = pt_insn_sync_forward(dec);
		while (status >= 0) {
			status = take_events(dec, status, c);
			if (status < 0 || status & pts_eos)
				break;
			status = pt_insn_next(dec, &insn, sizeof(insn));
			if (status < 0 && insn.iclass == ptic_error)
				break;
			c->instructions++;
			if (insn.ip >= from && insn.ip < to)
				printf("%" PRIx64 "\n", insn.ip - from);
		}
		if (status == -pte_eos || status >= 0)
			return;
		count_error(dec, status, insn.ip, c);
	}
}

int main(int argc, char **argv)
{
	uint64_t from = 0, to = 0;
	struct counts c = { 0 };
	struct pt_insn_decoder *dec;
	struct pt_config config;
	size_t size;
	int at = 2;

	if (argc < 3)
		return 2;
	if (strcmp(argv[at], "--") != 0) {
		from = hex(argv[2]);
		to = hex(argv[3]);
		at = 4;
	}
	pt_config_init(&config);
	config.begin = read_trace(argv[1], &size);
	config.end = config.begin + size;
	dec = pt_insn_alloc_decoder(&config);
	if (!dec || pt_insn_set_image(dec, read_images(argv + at + 1)) < 0)
		return 2;
	follow(dec, from, to, &c);
	printf("instructions %" PRIu64 " words %" PRIu64 " errors %" PRIu64 "\n", c.instructions, c.words, c.errors);
	return 0;
}
