// SPDX-License-Identifier: MIT
#include "meter.h"

static struct reading complete(const struct meter *m)
{
	return (struct reading){ m->begin, m->events * (1000000000 / METER_PERIOD), m->deepest };
}

static void begin(struct meter *m, uint64_t ns)
{
	m->running = true;
	m->begin = ns - ns % METER_PERIOD;
	m->events = 1;
	m->deepest = m->depth;
}

unsigned meter_event(struct meter *m, uint64_t ns, struct reading readings[static 2])
{
	uint64_t end = m->begin + METER_PERIOD;
	unsigned n = 0;

	if (meter_goes_on(m, ns))
		return 0;
	if (m->running)
		readings[n++] = complete(m);
	if (m->running && ns >= end + METER_PERIOD)
		readings[n++] = (struct reading){ end, 0, m->depth };
	begin(m, ns);
	return n;
}

unsigned meter_finish(struct meter *m, uint64_t ns, struct reading readings[static 2])
{
	if (!m->running)
		return 0;
	m->running = false;
	readings[0] = complete(m);
	readings[1] = (struct reading){ ns > m->begin ? ns : m->begin + METER_PERIOD, 0, 0 };
	return 2;
}
