/* SPDX-License-Identifier: MIT */
/* perffeat.c - a table of features, in the order of their bits, as perf reads them. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perffeat.h"

#define STRING_MAX 512

static void put(struct perffeat *f, const void *bytes, size_t size)
{
	memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
}

static void put_u32(struct perffeat *f, uint32_t value)
{
	put(f, &value, sizeof(value));
}

/* Length, text, zeros up to a multiple of 8. */
static void put_string(struct perffeat *f, const char *text)
{
	char padded[STRING_MAX] = { 0 };
	size_t length = strnlen(text, sizeof(padded) - 8);
	uint32_t size = (length / 8 + 1) * 8;

	memcpy(padded, text, length);
	put_u32(f, size);
	put(f, padded, size);
}

static void put_hostname(struct perffeat *f, const struct perffeat_of *of)
{
	struct utsname host;

	(void)of;
	uname(&host);
	put_string(f, host.nodename);
}

static void put_osrelease(struct perffeat *f, const struct perffeat_of *of)
{
	struct utsname host;

	(void)of;
	uname(&host);
	put_string(f, host.release);
}

static void put_arch(struct perffeat *f, const struct perffeat_of *of)
{
	struct utsname host;

	(void)of;
	uname(&host);
	put_string(f, host.machine);
}

static void put_cpus(struct perffeat *f, uint32_t ncpus, uint32_t least)
{
	put_u32(f, ncpus > least ? ncpus : least);
}

static void put_nrcpus(struct perffeat *f, const struct perffeat_of *of)
{
	put_cpus(f, sysconf(_SC_NPROCESSORS_CONF), of->ncpus);
	put_cpus(f, sysconf(_SC_NPROCESSORS_ONLN), of->ncpus);
}

static void put_event_desc(struct perffeat *f, const struct perffeat_of *of)
{
	put_u32(f, 1);
	put_u32(f, sizeof(*of->attr));
	put(f, of->attr, sizeof(*of->attr));
	put_u32(f, 1);
	put_string(f, of->event_name);
	put(f, &of->id, sizeof(of->id));
}

static const struct {
	enum perf_feature bit;
	void (*put)(struct perffeat *f, const struct perffeat_of *of);
} features[] = {
	{ PERF_FEAT_HOSTNAME, put_hostname }, { PERF_FEAT_OSRELEASE, put_osrelease },	{ PERF_FEAT_ARCH, put_arch },
	{ PERF_FEAT_NRCPUS, put_nrcpus },     { PERF_FEAT_EVENT_DESC, put_event_desc },
};

#define COUNT (sizeof(features) / sizeof(*features))

void perffeat_build(struct perffeat *f, uint64_t end, const struct perffeat_of *of)
{
	struct perf_section sections[COUNT];

	*f = (struct perffeat){ .size = sizeof(sections) };
	for (size_t i = 0; i < COUNT; i++) {
		size_t begin = f->size;

		features[i].put(f, of);
		sections[i] = (struct perf_section){ end + begin, f->size - begin };
		f->bits[features[i].bit / 64] |= 1ull << features[i].bit % 64;
	}
	memcpy(f->bytes, sections, sizeof(sections));
}
