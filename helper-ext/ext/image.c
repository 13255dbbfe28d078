/* SPDX-License-Identifier: MIT */
/* image.c - see image.h. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "image.h"

static bool holds(const struct range *ranges, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

static void add(struct range *ranges, size_t *n, uint64_t start, uint64_t size)
{
	if (*n < IMAGE_SEGMENTS && size)
		ranges[(*n)++] = (struct range){ start, start + size };
}

/* The last members of dl_phdr_info, which a C library need not have. */
static void read_tls(struct image *image, const struct dl_phdr_info *info, size_t bytes, uint64_t size)
{
	uint64_t start;

	if (bytes < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data) || !info->dlpi_tls_data)
		return;
	start = (uintptr_t)info->dlpi_tls_data;
	image->tls = (struct range){ start, start + size };
	image->tls_module = info->dlpi_tls_modid;
}

static void read_headers(struct image *image, const struct dl_phdr_info *info, size_t bytes)
{
	*image = (struct image){ .name = info->dlpi_name };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			image->unwind = (const uint8_t *)start;
		if (h->p_type == PT_TLS)
			read_tls(image, info, bytes, h->p_memsz);
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_R))
			continue;
		add(image->data, &image->ndata, start, h->p_filesz);
		if (h->p_flags & PF_X)
			add(image->text, &image->ntext, start, h->p_filesz);
	}
}

struct search {
	struct image *image;
	uint64_t address;
};

static int try_object(struct dl_phdr_info *info, size_t size, void *search)
{
	struct search *s = search;

	read_headers(s->image, info, size);
	return image_is_code(s->image, s->address);
}

bool image_of(struct image *image, const void *address)
{
	struct search s = { image, (uint64_t)address };

	return dl_iterate_phdr(try_object, &s);
}

bool image_is_code(const struct image *image, uint64_t address)
{
	return holds(image->text, image->ntext, address);
}

/* --- .eh_frame_hdr ----------------------------------------------------------------------------- */

/* The one shape that linkers write: pointers of 4 bytes, the sorted table relative to the header. */
struct unwind_header {
	uint8_t version, pointer_encoding, count_encoding, table_encoding;
	int32_t frames;
	uint32_t count;
	struct unwind_row {
		int32_t function, description;
	} rows[];
};

#define ENCODING_PCREL_SDATA4	0x1b
#define ENCODING_UDATA4		0x03
#define ENCODING_DATAREL_SDATA4 0x3b

static const struct unwind_row *last_at_or_before(const struct unwind_header *h, int64_t offset)
{
	size_t low = 0, high = h->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (h->rows[middle].function <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &h->rows[low - 1] : NULL;
}

/* A description: u32 length, u32 of no concern, i32 start relative to itself, u32 size. */
static bool read_description(const uint8_t *description, uint64_t start, struct range *function)
{
	int32_t relative;
	uint32_t size;

	memcpy(&relative, description + 8, sizeof(relative));
	memcpy(&size, description + 12, sizeof(size));
	*function = (struct range){ start, start + size };
	/* Only valid if both have the shape above: then the encoding need not be read. */
	return (uint64_t)description + 8 + (int64_t)relative == start;
}

bool image_function(const struct image *image, uint64_t address, struct range *function)
{
	const struct unwind_header *h = (const void *)image->unwind;
	const struct unwind_row *row;

	if (!h || h->version != 1 || h->pointer_encoding != ENCODING_PCREL_SDATA4 ||
	    h->count_encoding != ENCODING_UDATA4 || h->table_encoding != ENCODING_DATAREL_SDATA4)
		return false;
	row = last_at_or_before(h, (int64_t)(address - (uint64_t)h));
	return row &&
	       read_description((const uint8_t *)h + row->description, (uint64_t)h + (int64_t)row->function,
				function) &&
	       address < function->end;
}
