// SPDX-License-Identifier: MIT
#include "message.h"

#include <stdlib.h>

#include "base/proto.h"

/* Room for that many bytes behind what is there; NULL: no memory. */
static char *room(struct message *m, size_t size)
{
	if (m->size - m->n < size && !m->no_memory) {
		size_t wanted = 2 * m->size + size;
		char *moved = realloc(m->bytes, wanted);

		m->no_memory = !moved;
		m->bytes = moved ? moved : m->bytes;
		m->size = moved ? wanted : m->size;
	}
	return m->no_memory ? NULL : m->bytes + m->n;
}

static void end_at(struct message *m, const char *end)
{
	m->n = end - m->bytes;
}

void message_number(struct message *m, unsigned field, uint64_t n)
{
	char *to = room(m, (size_t)2 * PROTO_VARINT);

	if (to)
		end_at(m, proto_number(to, field, n));
}

void message_fixed64(struct message *m, unsigned field, uint64_t n)
{
	char *to = room(m, PROTO_VARINT + sizeof(n));

	if (!to)
		return;
	to = proto_varint(to, field << 3 | 1);
	end_at(m, mempcpy(to, &n, sizeof(n))); /* little endian, as the processors that this runs on */
}

void message_bytes(struct message *m, unsigned field, const void *bytes, size_t n)
{
	char *to = room(m, n + (size_t)2 * PROTO_VARINT);

	if (to)
		end_at(m, proto_string(to, field, bytes, n));
}

void message_text(struct message *m, unsigned field, const char *text)
{
	message_bytes(m, field, text, strlen(text));
}

void message_element(struct message *m, uint64_t n)
{
	char *to = room(m, PROTO_VARINT);

	if (to)
		end_at(m, proto_varint(to, n));
}

size_t message_open(struct message *m, unsigned field)
{
	char *to = room(m, PROTO_VARINT + 1);

	if (to)
		end_at(m, proto_open(to, field));
	return m->n;
}

void message_close(struct message *m, size_t at)
{
	if (room(m, PROTO_VARINT))
		end_at(m, proto_close(m->bytes + at, m->bytes + m->n));
}

void message_free(struct message *m)
{
	free(m->bytes);
	*m = (struct message){ 0 };
}
