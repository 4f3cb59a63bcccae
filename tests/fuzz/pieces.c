// SPDX-License-Identifier: MIT
// pieces SESSION TRACE: writes a session that a killed program left, and its trace, to standard output as the
// pieces that target_recover.c reads. Run by hand when the corpus is renewed. What is not in use is left out
// and the tables are moved together, so that there is little for a fuzzer to try in vain.
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/recover/load.h"
#include "encoder/recover/whole.h"

#define IN_TRACE (UINT32_C(1) << 31)
#define PIECE_MAX 32
#define TRACE_MAX 1024
#define RING_BYTES 1024

static char packed[1u << 20];
static uint64_t packed_bytes;

// Whole packets from the trace's beginning: what it says is not looked at.
static char trace[TRACE_MAX];
static uint64_t trace_bytes;

static uint64_t place(const void *bytes, uint64_t size, uint64_t room)
{
	uint64_t at = packed_bytes;

	if (room > sizeof packed - at) {
		fputs("pieces: the session is too large\n", stderr);
		exit(1);
	}
	memcpy(packed + at, bytes, size);
	packed_bytes += (room + 15) & ~UINT64_C(15);
	return at;
}

static uint32_t threads_in_use(struct pft_session *session)
{
	uint32_t count = 1;

	for (uint32_t i = 0; i < session->threads_max; i++)
		if (pft_session_thread(session, i)->state != PFT_THREAD_FREE)
			count = i + 1;
	return count;
}

static uint64_t pack_commit(struct pft_session *session, uint32_t which, uint32_t threads, uint32_t foreign)
{
	struct pft_commit *commit = pft_session_commit(session, which);
	uint64_t size = sizeof *commit + threads * sizeof(struct pft_commit_thread);
	uint64_t at;

	if (commit->trace_bytes > trace_bytes)
		commit->trace_bytes = trace_bytes;
	at = place(commit, size, size);

	size = foreign * sizeof(struct pft_open_foreign);
	place(pft_commit_foreign(session, commit), size, size);
	return at;
}

// What the thread recorded first since the last commit.
static void pack_ring(struct pft_session *session, uint32_t index)
{
	uint32_t tail = pft_commit_thread(pft_session_commit(session, session->generation), index)->tail;
	char ring[RING_BYTES];

	for (uint32_t at = tail; at != tail + RING_BYTES; at += sizeof(struct pft_record))
		memcpy(ring + at % RING_BYTES, pft_session_record(session, index, at),
			sizeof(struct pft_record));
	place(ring, RING_BYTES, RING_BYTES);
}

static void pack(struct pft_session *session)
{
	struct pft_session head = *session;
	uint32_t foreign = pft_session_commit(session, session->generation)->foreign;
	uint64_t size;

	packed_bytes = (sizeof head + 15) & ~UINT64_C(15);
	head.threads_max = threads_in_use(session);
	head.foreign_max = foreign + 1;
	head.strings_bytes = session->strings_used + 1;
	head.frames_max = session->frames_max ? session->frames + 1 : 0;
	size = session->hooks * sizeof(struct pft_session_hook);
	head.hooks_at = place(pft_session_hook(session, 0), size, size);
	head.strings_at = place(pft_session_string(session, 0), session->strings_used, head.strings_bytes);
	if (head.frames_max) {
		size = session->mappings * sizeof(struct pft_session_mapping);
		head.mappings_at = place(pft_session_mapping(session, 0), size, size);
		size = session->frames * sizeof(struct pft_session_frame);
		head.frames_at =
			place(pft_session_frame(session, 0), size, size + sizeof(struct pft_session_frame));
	}
	size = head.threads_max * sizeof(struct pft_session_thread);
	head.threads_at = place(pft_session_thread(session, 0), size, size);
	head.commit_at[0] = pack_commit(session, 0, head.threads_max, head.foreign_max);
	head.commit_at[1] = pack_commit(session, 1, head.threads_max, head.foreign_max);
	head.commit_bytes = head.commit_at[1] - head.commit_at[0];
	head.rings_at = packed_bytes;
	for (uint32_t index = 0; index < head.threads_max; index++)
		pack_ring(session, index);
	head.ring_bytes = RING_BYTES;
	head.bytes = packed_bytes;
	memcpy(packed, &head, sizeof head);
}

static bool is_empty(const char *bytes, size_t size)
{
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	return size == 0;
}

static void put(uint32_t at, const char *bytes, size_t size)
{
	fwrite(&at, sizeof at, 1, stdout);
	fputc((int)size, stdout);
	fwrite(bytes, size, 1, stdout);
}

// The last piece of the session is written in any case: it makes the file as long as it says.
static void put_all(const char *bytes, uint64_t size, uint32_t flag)
{
	for (uint64_t at = 0; at < size; at += PIECE_MAX) {
		uint64_t piece = size - at < PIECE_MAX ? size - at : PIECE_MAX;

		if (at + piece == size || !is_empty(bytes + at, piece))
			put((uint32_t)at | flag, bytes + at, piece);
	}
}

int main(int count, char **arguments)
{
	const char *flaw = "is not given";
	struct pft_session *session = NULL;
	int fd = -1;

	if (count == 3)
		session = pft_load(open(arguments[1], O_RDONLY), &flaw);
	if (session)
		fd = open(arguments[2], O_RDONLY);
	if (!session || fd < 0 || pread(fd, trace, sizeof trace, 0) < 0) {
		fprintf(stderr, "pieces: session or trace: %s\n", session ? "cannot be read" : flaw);
		return 1;
	}
	trace_bytes = pft_whole_find(fd, sizeof trace).bytes;
	pack(session);
	put_all(packed, packed_bytes, 0);
	put_all(trace, trace_bytes, IN_TRACE);
	return 0;
}
