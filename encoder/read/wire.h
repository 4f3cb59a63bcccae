// SPDX-License-Identifier: MIT
// The fields of one protobuf message, one after the other, out of bytes that nobody vouches for. The rule:
// nothing outside of the message is read, and nothing is copied.
#ifndef PFT_READ_WIRE_H
#define PFT_READ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pft_wire {
	const uint8_t *next, *end;
	bool malformed;
};

struct pft_wire_field {
	uint32_t number;
	bool has_bytes; // else it has a value
	uint64_t value; // of a varint or a fixed number
	const uint8_t *bytes;
	size_t size;
};

static inline struct pft_wire pft_wire_of(const struct pft_wire_field *field)
{
	return (struct pft_wire){
		.next = field->bytes, .end = field->size ? field->bytes + field->size : field->bytes};
}

// The next field. False at the end of the message, or where it is malformed.
bool pft_wire_next(struct pft_wire *wire, struct pft_wire_field *field);

// A varint in [at, end). The byte behind it; NULL when it runs past the end, or past ten bytes.
const uint8_t *pft_wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *value);

#endif
