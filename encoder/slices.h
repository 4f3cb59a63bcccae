// SPDX-License-Identifier: MIT
// The hot packets, written as bytes: a slice begins, a slice ends. Called by trace.c for every event.
// Flusher context; pure. The fields stand in the order of their numbers, so the bytes are those that
// protobuf-c would write.
//
//   0a LENGTH
//   40 timestamp  50 sequence  5a LENGTH {18 category  48 type  50 name  58 track  c0 03 callstack}  68 02
//              d0 03 06
//
// Category, name, track and callstack stand only where they are given; the last field, clock BOOTTIME, only
// on an absolute timestamp. With one-byte ids and two-byte timestamps a begin is 15 bytes and an end 13.
#ifndef PFT_SLICES_H
#define PFT_SLICES_H

#include <stdbool.h>
#include <stdint.h>

// Bits of a packet's sequence_flags.
#define PFT_SEQUENCE_CLEARED 1
#define PFT_SEQUENCE_NEEDS_STATE 2

enum pft_slice_type { PFT_SLICE_BEGIN = 1, PFT_SLICE_END = 2 };

// When and where something happened, and under which interned name.
struct pft_event {
	uint64_t ns; // since the sequence's last event, or of CLOCK_BOOTTIME
	uint64_t track_uuid; // 0: the sequence's default
	uint32_t sequence;
	uint32_t name_iid, category_iid; // 0: none
	uint32_t callstack_iid; // 0: none
	bool absolute; // what `ns` means
};

#define PFT_SLICE_BYTES_MAX 80

// Writes the packet into room for PFT_SLICE_BYTES_MAX bytes and returns where it ends.
uint8_t *pft_slice_put(uint8_t *at, enum pft_slice_type type, const struct pft_event *event);

#endif
