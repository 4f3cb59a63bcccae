// SPDX-License-Identifier: MIT
// A session becomes the rest of its trace: see targets.h.
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/complete.h"
#include "encoder/recover/load.h"
#include "encoder/recover/whole.h"
#include "tests/fuzz/targets.h"

#define PLACE_BYTES 4
#define IN_TRACE (UINT32_C(1) << 31)

// Places beyond wrap: files stay small.
#define SESSION_BYTES (1u << 20)
#define TRACE_BYTES (1u << 16)

// The corpus outlives a new version that moves little, and the test of it tells when one moves more.
static void put_version(int session)
{
	const uint32_t version = PFT_SESSION_VERSION;

	pft_fuzz_expect(pwrite(session, &version, sizeof version, offsetof(struct pft_session, version)) ==
				(ssize_t)sizeof version,
		"a file in memory can be written");
}

// A piece that does not fit is left out.
static void put_piece(int fd, uint32_t at, uint32_t room, const uint8_t *bytes, size_t size)
{
	if ((at %= room) + size <= room)
		pft_fuzz_expect(
			pwrite(fd, bytes, size, at) == (ssize_t)size, "a file in memory can be written");
}

static void put_pieces(int session, int trace, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + PLACE_BYTES < size;) {
		size_t piece = bytes[at + PLACE_BYTES];
		uint32_t place;

		memcpy(&place, bytes + at, sizeof place);
		at += PLACE_BYTES + 1;
		if (piece > size - at)
			piece = size - at;
		if (place & IN_TRACE)
			put_piece(trace, place & ~IN_TRACE, TRACE_BYTES, bytes + at, piece);
		else
			put_piece(session, place, SESSION_BYTES, bytes + at, piece);
		at += piece;
	}
}

static bool complete(struct pft_session *session, int trace)
{
	struct pft_completed completed;
	struct stat found;

	// Where nothing was committed the clock's rate is measured, which takes 20 ms.
	if (session->generation == 0)
		session->clock = PFT_CLOCK_MONOTONIC;
	if (pft_complete(session, trace, -1, &completed) != 0)
		return false;
	pft_fuzz_expect(fstat(trace, &found) == 0, "a file has a size");
	pft_fuzz_expect(pft_whole_find(trace, (uint64_t)found.st_size).rest == PFT_REST_NONE,
		"a recovered trace ends where a packet does");
	return true;
}

bool pft_fuzz_recover(const uint8_t *bytes, size_t size)
{
	int file = pft_fuzz_file(NULL, 0), trace = pft_fuzz_file(NULL, 0);
	struct pft_session *session;
	const char *flaw;
	bool taken = false;

	put_pieces(file, trace, bytes, size);
	put_version(file);
	session = pft_load(file, &flaw);
	if (session) {
		taken = complete(session, trace);
		pft_unload(session);
	}
	close(file);
	close(trace);
	return taken;
}
