/* SPDX-License-Identifier: MIT */
/* perffeat.c - a table of features, in the order of their bits, as perf reads them. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perffeat.h"

#define STRING_MAX 512

struct event {
	struct utsname host;
	const struct perf_attr *attr;
	uint64_t id;
	const char *name;
};

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

static void put_osrelease(struct perffeat *f, const struct event *ev)
{
	put_string(f, ev->host.release);
}

static void put_arch(struct perffeat *f, const struct event *ev)
{
	put_string(f, ev->host.machine);
}

static void put_nrcpus(struct perffeat *f, const struct event *ev)
{
	(void)ev;
	put_u32(f, sysconf(_SC_NPROCESSORS_CONF));
	put_u32(f, sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_event_desc(struct perffeat *f, const struct event *ev)
{
	put_u32(f, 1);
	put_u32(f, sizeof(*ev->attr));
	put(f, ev->attr, sizeof(*ev->attr));
	put_u32(f, 1);
	put_string(f, ev->name);
	put(f, &ev->id, sizeof(ev->id));
}

static const struct {
	enum perf_feature bit;
	void (*put)(struct perffeat *f, const struct event *ev);
} features[] = {
	{ PERF_FEAT_OSRELEASE, put_osrelease },
	{ PERF_FEAT_ARCH, put_arch },
	{ PERF_FEAT_NRCPUS, put_nrcpus },
	{ PERF_FEAT_EVENT_DESC, put_event_desc },
};

#define COUNT (sizeof(features) / sizeof(*features))

void perffeat_build(struct perffeat *f, uint64_t end, const struct perf_attr *attr, uint64_t id,
		    const char *event_name)
{
	struct event ev = { .attr = attr, .id = id, .name = event_name };
	struct perf_section sections[COUNT];

	uname(&ev.host);
	*f = (struct perffeat){ .size = sizeof(sections) };
	for (size_t i = 0; i < COUNT; i++) {
		size_t begin = f->size;

		features[i].put(f, &ev);
		sections[i] = (struct perf_section){ end + begin, f->size - begin };
		f->bits[features[i].bit / 64] |= 1ull << features[i].bit % 64;
	}
	memcpy(f->bytes, sections, sizeof(sections));
}
