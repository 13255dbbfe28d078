// SPDX-License-Identifier: MIT
/* A member's size and checksum stand before it: its header is made first, in memory. */
#include "npz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define VERSION	   20	/* ZIP version needed: 2.0 */
#define DATE	   0x21 /* 1980-01-01, the earliest: equal arrays give equal files */
#define HEADER	   128	/* bytes of an array's header: a multiple of 64, so that elements are aligned */
#define HEADER_TOP 10	/* of these: before the text */

static const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

/* What the local header and the directory share. */
static void put_facts(struct out *o, const struct npz_member *m)
{
	out_number(o, VERSION, 2);
	out_number(o, 0, 2); /* flags */
	out_number(o, 0, 2); /* method: stored */
	out_number(o, 0, 2); /* time */
	out_number(o, DATE, 2);
	out_number(o, m->crc, 4);
	out_number(o, m->size, 4);
	out_number(o, m->size, 4);
	out_number(o, strlen(m->name) + strlen(".npy"), 2);
	out_number(o, 0, 2); /* extra field */
}

static void put_name(struct out *o, const struct npz_member *m)
{
	out_put(o, m->name, strlen(m->name));
	out_put(o, ".npy", strlen(".npy"));
}

static void make_header(char header[HEADER], struct npz_type type, uint32_t rows, uint32_t columns)
{
	char shape[32];
	int n;

	snprintf(shape, sizeof(shape), columns ? "%" PRIu32 ", %" PRIu32 : "%" PRIu32 ",", rows, columns);
	memset(header, ' ', HEADER);
	memcpy(header, "\x93NUMPY\1\0", HEADER_TOP - 2);
	header[HEADER_TOP - 2] = HEADER - HEADER_TOP;
	header[HEADER_TOP - 1] = 0;
	n = snprintf(header + HEADER_TOP, HEADER - HEADER_TOP,
		     "{'descr': '%c%c%" PRIu32 "', 'fortran_order': False, 'shape': (%s), }", order, type.kind,
		     type.kind == 'U' ? type.width / 4 : type.width, shape);
	header[HEADER_TOP + n] = ' ';
	header[HEADER - 1] = '\n';
}

void npz_array(struct npz *z, const char *name, struct npz_type type, uint32_t rows, uint32_t columns,
	       const void *elements)
{
	uint64_t size = (uint64_t)rows * (columns ? columns : 1) * type.width;
	struct npz_member *m = &z->members[z->n];
	char header[HEADER];

	if (z->n == NPZ_MOST || z->at + size > UINT32_MAX - 2 * HEADER) {
		z->out->err = z->out->err ? z->out->err : -EFBIG;
		return;
	}
	make_header(header, type, rows, columns);
	*m = (struct npz_member){ .name = name, .size = HEADER + size, .at = z->at };
	m->crc = crc32_z(crc32_z(0, (const Bytef *)header, HEADER), elements, size);
	out_number(z->out, 0x04034b50, 4);
	put_facts(z->out, m);
	put_name(z->out, m);
	out_put(z->out, header, HEADER);
	out_put(z->out, elements, size);
	z->at += 30 + strlen(name) + strlen(".npy") + m->size;
	z->n++;
}

static uint32_t put_directory(const struct npz *z)
{
	uint32_t size = 0;

	for (const struct npz_member *m = z->members; m < z->members + z->n; m++) {
		out_number(z->out, 0x02014b50, 4);
		out_number(z->out, VERSION, 2); /* made by */
		put_facts(z->out, m);
		out_number(z->out, 0, 2); /* comment */
		out_number(z->out, 0, 4); /* disk, internal attributes */
		out_number(z->out, 0, 4); /* external attributes */
		out_number(z->out, m->at, 4);
		put_name(z->out, m);
		size += 46 + strlen(m->name) + strlen(".npy");
	}
	return size;
}

void npz_end(struct npz *z)
{
	uint32_t size = put_directory(z);

	out_number(z->out, 0x06054b50, 4);
	out_number(z->out, 0, 4); /* disks */
	out_number(z->out, z->n, 2);
	out_number(z->out, z->n, 2);
	out_number(z->out, size, 4);
	out_number(z->out, z->at, 4);
	out_number(z->out, 0, 2); /* comment */
}
