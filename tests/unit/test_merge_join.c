// SPDX-License-Identifier: MIT
// Unit tests of encoder/merge/join.c: packets byte by byte. Run by Criterion.
#include "encoder/merge/join.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/reader.h"

static int output;
static struct pft_sink sink;
static struct pft_join join;
static uint64_t process;
static uint32_t segment;

static void open_join(void)
{
	output = pft_reader_file();
	sink = pft_sink_open(output);
	join = pft_join_open(&sink);
}

TestSuite(merge_join, .init = open_join);

static struct pft_joined add(const void *bytes, size_t size)
{
	int fd = pft_reader_file();
	struct pft_joined joined;

	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	joined = pft_join_member(&join, fd, process, segment);
	close(fd);
	return joined;
}

#define ADD(bytes) add(bytes, sizeof(bytes) - 1)

static void makes(const void *bytes, size_t size)
{
	static char found[4096];

	pft_join_close(&join);
	cr_assert_eq(pft_sink_close(&sink), 0);
	cr_assert_eq(pread(output, found, sizeof found, 0), (ssize_t)size);
	cr_assert_eq(memcmp(found, bytes, size), 0);
}

#define MAKES(bytes) makes(bytes, sizeof(bytes) - 1)

// A packet's tag and size, then: 10 (tag 0x50) names its sequence, 8 (0x40) its time, 13 (0x68) its flags.

Test(merge_join, gives_sequences_of_each_member_ids_of_their_own)
{
	cr_assert_null(ADD("\x0a\x04\x40\x01\x50\x07\x0a\x04\x50\x09\x68\x02\x0a\x04\x40\x02\x50\x07").wrong);
	cr_assert_null(ADD("\x0a\x04\x40\x03\x50\x07").wrong);
	MAKES("\x0a\x04\x40\x01\x50\x01\x0a\x04\x50\x02\x68\x02\x0a\x04\x40\x02\x50\x01\x0a\x04\x40\x03\x50"
	      "\x03");
}

Test(merge_join, mends_the_size_of_a_packet_whose_id_became_shorter_or_longer)
{
	cr_assert_null(ADD("\x0a\x06\x40\x01\x50\xff\xff\x01").wrong);
	join.last_sequence = 299;
	cr_assert_null(ADD("\x0a\x04\x40\x01\x50\x07").wrong);
	MAKES("\x0a\x04\x40\x01\x50\x01\x0a\x05\x40\x01\x50\xac\x02");
}

Test(merge_join, names_a_sequence_where_none_was_named)
{
	cr_assert_null(ADD("\x0a\x02\x40\x01\x0a\x04\x40\x02\x50\x03").wrong);
	cr_assert_null(ADD("\x0a\x02\x40\x01").wrong);
	MAKES("\x0a\x04\x40\x01\x50\x01\x0a\x04\x40\x02\x50\x02\x0a\x04\x40\x01\x50\x03");
}

// An event is field 11, tag 5a; its content is nobody's business here.
Test(merge_join, copies_events_as_they_are)
{
	cr_assert_null(ADD("\x0a\x0a\x40\x85\x01\x50\x07\x68\x02\x5a\x01x\x0a\x05\x5a\x01y\x50\x07").wrong);
	MAKES("\x0a\x0a\x40\x85\x01\x50\x01\x68\x02\x5a\x01x\x0a\x05\x5a\x01y\x50\x01");
}

Test(merge_join, refuses_an_event_that_is_longer_than_its_packet)
{
	cr_assert_not_null(ADD("\x0a\x02\x50\x07\x0a\x05\x50\x07\x5a\x02x").wrong);
	cr_assert_not_null(ADD("\x0a\x02\x50\x07\x0a\x03\x50\x07\x5a").wrong);
	cr_assert_not_null(ADD("\x0a\x02\x50\x07\x0a\x02\x50\x87").wrong);
	pft_join_close(&join);
}

Test(merge_join, takes_the_last_of_two_ids)
{
	cr_assert_null(ADD("\x0a\x06\x50\x07\x40\x01\x50\x08\x0a\x02\x50\x08").wrong);
	MAKES("\x0a\x04\x40\x01\x50\x01\x0a\x02\x50\x01");
}

Test(merge_join, leaves_a_uuid_out_and_a_packet_that_has_nothing_else)
{
	// Field 89 is the tag ca 05.
	cr_assert_null(ADD("\x0a\x07\x50\x01\xca\x05\x02\x08\x05\x0a\x05\xca\x05\x00\x40\x01").wrong);
	MAKES("\x0a\x04\x40\x01\x50\x02");
}

Test(merge_join, keeps_attributes_of_others_and_adds_ours_up_at_the_end)
{
	// Field 126 is the tag f2 07; each holds one attribute, with a key and the number 1.
	static const char member[] = "\x0a\x0c\xf2\x07\x07\x0a\x05\x0a\x01k\x10\x01\x50\x01"
				     "\x0a\x1a\xf2\x07\x15\x0a\x13\x0a\x0fpftshim.written\x10\x01\x50\x01";

	for (int i = 0; i < 2; i++)
		cr_assert_null(add(member, sizeof member - 1).wrong);
	MAKES("\x0a\x0c\xf2\x07\x07\x0a\x05\x0a\x01k\x10\x01\x50\x01"
	      "\x0a\x0c\xf2\x07\x07\x0a\x05\x0a\x01k\x10\x01\x50\x02"
	      "\x0a\x1a\xf2\x07\x15\x0a\x13\x0a\x0fpftshim.written\x10\x02\x50\x03");
}

Test(merge_join, says_how_much_of_a_last_packet_is_left_out)
{
	cr_assert_eq(ADD("\x0a\x04\x40\x01\x50\x07\x0a\x04\x40\x02").cut_bytes, 4);
	MAKES("\x0a\x04\x40\x01\x50\x01");
}

Test(merge_join, says_what_is_wrong)
{
	cr_assert_str_eq(ADD("").wrong, "is empty");
	cr_assert_str_eq(ADD("\x0a\x04\x40").wrong, "is no Perfetto trace");
	cr_assert_str_eq(ADD("\x0a\x02\x40\x01\x0a\x01\x40").wrong,
		"is damaged: something in it is no packet of a trace");
	cr_assert_not_null(strstr(ADD("\x0a\x04\xaa\x08\x01x").wrong, "what is compressed in it"));
}

// Field 60 is the tag e2 03: a track, uuid 5, that is a thread of process 9.
#define TRACK(tid) "\x0a\x0d\xe2\x03\x08\x08\x05\x22\x04\x08\x09\x10" tid "\x50\x01"

Test(merge_join, notices_two_tracks_by_one_id)
{
	cr_assert_eq(ADD(TRACK("\x01")).other, 0);
	cr_assert_eq(ADD(TRACK("\x01")).other, 0);
	cr_assert_eq(ADD(TRACK("\x02")).other, 1);
	pft_join_close(&join);
}

Test(merge_join, lets_a_member_describe_its_own_track_anew)
{
	cr_assert_eq(ADD(TRACK("\x01") TRACK("\x02")).other, 0);
	pft_join_close(&join);
}

// A begin (48 01) with an annotation whose name has the iid 2, and one that has none.
#define SEGMENT                                                                                              \
	"\x0a\x0c\x50\x01\x5a\x08\x22\x04\x08\x02\x18\x09\x48\x01"                                           \
	"\x0a\x06\x50\x01\x5a\x02\x48\x01"
#define CONTINUED(id)                                                                                        \
	"\x0a\x0c\x50" id "\x5a\x08\x22\x04\x08\x02\x18\x09\x48\x03"                                         \
	"\x0a\x06\x50" id "\x5a\x02\x48\x01"
#define BEGUN(id)                                                                                            \
	"\x0a\x0c\x50" id "\x5a\x08\x22\x04\x08\x02\x18\x09\x48\x01"                                         \
	"\x0a\x06\x50" id "\x5a\x02\x48\x01"

Test(merge_join, begins_a_call_that_spans_segments_once)
{
	process = 7;
	for (segment = 1; segment <= 3; segment++)
		cr_assert_null(ADD(SEGMENT).wrong);
	MAKES(BEGUN("\x01") CONTINUED("\x02") CONTINUED("\x03"));
}

Test(merge_join, begins_a_call_again_where_the_segment_before_is_not_there_or_was_cut)
{
	process = 7;
	segment = 2;
	cr_assert_null(ADD(SEGMENT).wrong);
	segment = 4;
	cr_assert_null(ADD(SEGMENT "\x0a").wrong);
	segment = 5;
	cr_assert_null(ADD(SEGMENT).wrong);
	process = 8;
	segment = 6;
	cr_assert_null(ADD(SEGMENT).wrong);
	MAKES(BEGUN("\x01") BEGUN("\x02") BEGUN("\x03") BEGUN("\x04"));
}

Test(merge_join, copies_packets_that_are_larger_than_its_buffers)
{
	enum { TEXT = 3 << 20 };
	// Field 14 of TEXT bytes; two bytes more are the id.
	static uint8_t packet[10 + TEXT] = "\x0a\x85\x80\xc0\x01\x72\x80\x80\xc0\x01", found[12 + TEXT];

	memset(packet + 10, 'x', TEXT);
	cr_assert_null(add(packet, sizeof packet).wrong);
	pft_join_close(&join);
	cr_assert_eq(pft_sink_close(&sink), 0);
	cr_assert_eq(pread(output, found, sizeof found, 0), (ssize_t)sizeof found);
	cr_assert_eq(memcmp(found, "\x0a\x87\x80\xc0\x01", 5), 0);
	cr_assert_eq(memcmp(found + 5, packet + 5, sizeof packet - 5), 0);
	cr_assert_eq(memcmp(found + sizeof found - 2, "\x50\x01", 2), 0);
}
