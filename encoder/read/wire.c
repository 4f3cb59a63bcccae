// SPDX-License-Identifier: MIT
// Protobuf's wire format: see wire.h.
#include "encoder/read/wire.h"

#include <string.h>

const uint8_t *pft_wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
		uint8_t byte = *at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return at;
	}
	return NULL;
}

// A number of `size` bytes, least significant first.
static const uint8_t *fixed(const struct pft_wire *wire, size_t size, struct pft_wire_field *field)
{
	if ((size_t)(wire->end - wire->next) < size)
		return NULL;
	field->value = 0;
	memcpy(&field->value, wire->next, size);
	return wire->next + size;
}

static const uint8_t *bytes(const struct pft_wire *wire, struct pft_wire_field *field)
{
	uint64_t size;
	const uint8_t *at = pft_wire_varint(wire->next, wire->end, &size);

	if (!at || size > (uint64_t)(wire->end - at))
		return NULL;
	field->has_bytes = true;
	field->bytes = at;
	field->size = (size_t)size;
	return at + size;
}

static const uint8_t *content(const struct pft_wire *wire, unsigned type, struct pft_wire_field *field)
{
	switch (type) {
	case 0:
		return pft_wire_varint(wire->next, wire->end, &field->value);
	case 1:
		return fixed(wire, 8, field);
	case 2:
		return bytes(wire, field);
	case 5:
		return fixed(wire, 4, field);
	default: // groups are not used by traces
		return NULL;
	}
}

bool pft_wire_next(struct pft_wire *wire, struct pft_wire_field *field)
{
	uint64_t tag;

	if (wire->next == wire->end || wire->malformed)
		return false;
	*field = (struct pft_wire_field){0};
	wire->next = pft_wire_varint(wire->next, wire->end, &tag);
	if (wire->next && tag >> 3 != 0 && tag >> 3 < 1u << 29) {
		field->number = (uint32_t)(tag >> 3);
		wire->next = content(wire, tag & 7, field);
	} else {
		wire->next = NULL;
	}
	wire->malformed = !wire->next;
	return !wire->malformed;
}
