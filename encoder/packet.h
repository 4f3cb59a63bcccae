// SPDX-License-Identifier: MIT
// The cold packets: everything in a trace but plain slices. Called by trace.c and sequence.c. Flusher
// context. packet.c is the only file that knows protobuf-c; it packs straight into the out buffer and
// allocates nothing but scratch memory. Texts need not be UTF-8; they are cut at PFT_NAME_BYTES_MAX.
#ifndef PFT_PACKET_H
#define PFT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/out.h"
#include "encoder/slices.h"

struct pft_session;

// What all packets of one trace are written with.
struct pft_packets {
	struct pft_out *out;
	struct pft_arena *scratch;
};

// ---- the trace as a whole, on sequence `sequence` ----------------------------------------------------

// Host and kernel, by uname.
void pft_packet_system(struct pft_packets *packets, uint32_t sequence);

// Pid, name, command line and origin of the session's process.
void pft_packet_process(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, const struct pft_session *session);

// Pid and name of another process, which the session's one comes from.
struct pft_relative;
void pft_packet_relative(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, const struct pft_relative *relative);

// Version, mode, selectors, command line and origin of the session, and unless NULL `totals`, which were
// reached after so long a time.
struct pft_totals;
void pft_packet_attributes(struct pft_packets *packets, uint32_t sequence, const struct pft_session *session,
	const struct pft_totals *totals, uint64_t duration_ns);

// ---- tracks -----------------------------------------------------------------------------------------

struct pft_thread_track {
	uint64_t uuid, process_uuid;
	uint32_t pid, tid;
	const char *name; // may be empty
	const char *description; // or NULL
};

void pft_packet_thread(struct pft_packets *packets, uint32_t sequence, const struct pft_thread_track *track);
void pft_packet_child(struct pft_packets *packets, uint32_t sequence, uint64_t uuid, uint64_t parent_uuid,
	const char *name);

// ---- a sequence's state -----------------------------------------------------------------------------

// The sequence's own clock: nanoseconds, each timestamp the difference from the one before.
#define PFT_CLOCK_SEQUENCE 64

struct pft_state {
	uint32_t sequence;
	bool first; // the first packet ever of this sequence
	uint64_t dropped; // events lost before it
	uint64_t track_uuid; // where the sequence's events go
	uint64_t boot_ns, monotonic_ns, real_ns;
	uint64_t salt; // the same within a process and different from other processes' where possible
};

// Clears the sequence's state and starts it: clocks and defaults.
void pft_packet_state(struct pft_packets *packets, const struct pft_state *state);

// Defines a name and a category; iid 0: none.
struct pft_interned {
	uint64_t name_iid, category_iid;
	const char *name, *category;
};

void pft_packet_interned(struct pft_packets *packets, uint32_t sequence, const struct pft_interned *interned);

// An object's mapping, with its path and build id (0 bytes: none) under its own iid.
struct pft_mapping {
	uint64_t iid, start, end, bias;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

void pft_packet_mapping(
	const struct pft_packets *packets, uint32_t sequence, const struct pft_mapping *mapping);

// A frame, and its function with it unless NULL; iid 0: it has no name.
struct pft_frame_definition {
	uint64_t iid, mapping_iid, function_iid;
	uint64_t address; // as the file counts them
	const char *function;
};

void pft_packet_frame(
	const struct pft_packets *packets, uint32_t sequence, const struct pft_frame_definition *frame);

// The frames are named by iid, the outermost first.
void pft_packet_callstack(
	const struct pft_packets *packets, uint32_t sequence, uint64_t iid, uint64_t *frames, size_t count);

// ---- events -----------------------------------------------------------------------------------------

// Name and category stand in the packet itself: whatever callers say, no memory is held for it.
void pft_packet_instant(
	struct pft_packets *packets, const struct pft_event *event, const char *name, const char *category);

// An instant from which the arrow `flow` leaves, or in which it ends. The same number makes one arrow.
struct pft_arrow {
	uint64_t flow;
	bool ends;
};

void pft_packet_arrow(struct pft_packets *packets, const struct pft_event *event, const char *name,
	const char *category, struct pft_arrow arrow);

// Annotations, whose names are defined along with them when `define` is set.
#define PFT_ANNOTATION_UNWOUND 1u
#define PFT_ANNOTATION_CONTINUED 2u
#define PFT_ANNOTATION_EARLIER 4u

// What it is called.
const char *pft_annotation_name(unsigned annotation);

// A slice's end with the annotation `unwound`.
void pft_packet_unwound(struct pft_packets *packets, const struct pft_event *event, bool define);

// A slice's begin that is shown so much later than it was, with the annotation `continued_ns` when an earlier
// file shows it too, or `began_earlier_ns`.
void pft_packet_late_begin(struct pft_packets *packets, const struct pft_event *event, uint64_t late_ns,
	unsigned annotation, bool define);

#endif
