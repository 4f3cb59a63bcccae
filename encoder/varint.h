// SPDX-License-Identifier: MIT
// The wire format's variable-length integer: seven bits a byte, least significant first, the top bit set on
// all but the last. Called by the packet writers. Flusher context; pure. The caller has room for
// PFT_VARINT_MAX bytes.
#ifndef PFT_VARINT_H
#define PFT_VARINT_H

#include <stdint.h>

#define PFT_VARINT_MAX 10

// Writes `value` and returns where the next byte goes.
static inline uint8_t *pft_varint_put(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

#endif
