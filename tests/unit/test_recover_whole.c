// SPDX-License-Identifier: MIT
// Unit tests of encoder/recover/whole.c: how much of a trace is whole packets. Run by Criterion.
#include "encoder/recover/whole.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

static struct pft_whole found_in(const void *bytes, size_t size)
{
	struct pft_whole whole;
	int fd = pft_reader_file();

	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	whole = pft_whole_find(fd, size);
	close(fd);
	return whole;
}

static void assert_found(struct pft_whole whole, uint64_t bytes, enum pft_rest rest)
{
	cr_assert_eq(whole.bytes, bytes, "%lu bytes instead of %lu", whole.bytes, bytes);
	cr_assert_eq(whole.rest, rest, "rest %d instead of %d", whole.rest, rest);
}

Test(recover_whole, is_all_of_an_empty_file)
{
	assert_found(found_in("", 0), 0, PFT_REST_NONE);
}

Test(recover_whole, counts_packets_of_any_length)
{
	static uint8_t long_one[4 + 300000] = {0x0a, 0xe0, 0xa7, 0x12};

	assert_found(found_in("\x0a\x00\x0a\x02xy", 6), 6, PFT_REST_NONE);
	assert_found(found_in(long_one, sizeof long_one), sizeof long_one, PFT_REST_NONE);
	assert_found(found_in(long_one, sizeof long_one - 1), 0, PFT_REST_CUT);
}

Test(recover_whole, stops_at_what_does_not_begin_as_a_packet)
{
	assert_found(found_in("hello", 5), 0, PFT_REST_OTHER);
	assert_found(found_in("\x0a\x01xhello", 8), 3, PFT_REST_OTHER);
}

Test(recover_whole, does_not_believe_a_length_beyond_the_file)
{
	assert_found(found_in("\x0a\x01x\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14), 3, PFT_REST_CUT);
	assert_found(found_in("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13), 0, PFT_REST_CUT);
}

// A trace of some packets; its size.
static size_t small_trace(int fd)
{
	struct pft_session *session = pft_fake_session(4096, 1);
	struct pft_trace *trace = pft_trace_open(session, fd, (struct pft_clocks){.boot_ns = 1}, 0);
	struct pft_track *track = pft_trace_thread(trace, 5, "thread");
	uint32_t hook = pft_fake_hook(session, "object", "f");
	struct stat found;

	for (uint64_t ns = 0; ns < 20; ns += 2) {
		pft_trace_begin(track, ns, hook, 0);
		pft_trace_end(track, ns + 1, 0);
	}
	pft_trace_close(trace, (struct pft_totals){20, 20, 0, 0});
	cr_assert_eq(fstat(fd, &found), 0);
	return (size_t)found.st_size;
}

Test(recover_whole, ends_with_a_packet_wherever_the_file_is_cut)
{
	static uint8_t bytes[65536];
	int fd = pft_reader_file();
	size_t size = small_trace(fd);
	size_t packets = pft_reader_packets(fd)->n_packet, ends = 0;
	uint64_t last = 0;

	cr_assert_leq(size, sizeof bytes);
	cr_assert_eq(pread(fd, bytes, size, 0), (ssize_t)size);
	for (size_t cut = 1; cut <= size; cut++) {
		struct pft_whole whole = found_in(bytes, cut);

		cr_assert(whole.bytes == last || whole.bytes == cut);
		cr_assert_eq(whole.rest, whole.bytes == cut ? PFT_REST_NONE : PFT_REST_CUT);
		ends += whole.bytes == cut;
		last = whole.bytes;
	}
	cr_assert_eq(ends, packets);
}
