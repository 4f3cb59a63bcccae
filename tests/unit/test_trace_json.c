// SPDX-License-Identifier: MIT
// Unit tests of encoder/trace.c with Chrome JSON beside or instead of packets. Run by Criterion.
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

static const struct pft_clocks start_clocks = {
	.boot_ns = START, .monotonic_ns = START - 100, .real_ns = UINT64_C(1700000000000000000)};
static const struct pft_totals totals = {.produced = 10, .written = 5, .filtered = 4, .dropped = 1};

static struct pft_session *session;
static struct pft_trace *trace;
static struct pft_track *thread;
static uint32_t hook;
static int packets_fd, json_fd;

static void start_with(int fd)
{
	trace = pft_trace_open(session, fd, start_clocks, 0);
	cr_assert_not_null(trace);
	cr_assert_eq(pft_trace_json(trace, json_fd), 0);
	thread = pft_trace_thread(trace, 4321, "worker");
}

static void start(void)
{
	session = pft_fake_session(4096, 4);
	session->pid = 4242;
	hook = pft_fake_hook(session, "libz.so.1", "inflate");
	packets_fd = pft_reader_file();
	json_fd = pft_reader_file();
}

TestSuite(trace_json, .init = start);

static int json_holds(const char *text)
{
	static char bytes[65536];
	ssize_t size = pread(json_fd, bytes, sizeof bytes - 1, 0);

	cr_assert_geq(size, 0);
	bytes[size] = '\0';
	return strstr(bytes, text) != NULL;
}

static void say_everything(void)
{
	struct pft_track *fiber;

	pft_trace_instant(thread, START, "thread begin", "thread");
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_end(thread, START + 2, 0);
	fiber = pft_trace_fiber(thread, "coroutine 1");
	pft_trace_begin(fiber, START + 2, hook, 0);
	pft_trace_end_unwound(thread, START + 3);
	pft_trace_end(fiber, START + 4, 0);
	pft_trace_begin(thread, START + 5, hook, 0);
	pft_trace_gap(thread, START + 6, 77);
	pft_trace_begin(thread, START + 7, hook, 0);
}

static void is_everything(void)
{
	const struct pft_reader_lines *lines = pft_reader_chrome(json_fd);

	cr_assert_eq(lines->count, 7);
	cr_assert(pft_reader_says(lines, 0,
		"\"ts\": 1000000001, \"pid\": 4242, \"tid\": 4321, \"args\": {\"unwound\": true}, "
		"\"cat\": \"libz.so.1\", \"dur\": 2, \"depth\": 0"));
	cr_assert(pft_reader_says(lines, 1, "\"dur\": 1, \"depth\": 1"));
	cr_assert(pft_reader_says(lines, 2, "\"ts\": 1000000002, \"pid\": 4242, \"tid\": 4194304"));
	cr_assert(pft_reader_says(lines, 3, "\"dur\": 1, \"depth\": 0"));
	cr_assert(pft_reader_says(
		lines, 4, "\"ph\": \"B\", \"name\": \"libz.so.1::inflate\", \"ts\": 1000000007"));
	cr_assert(pft_reader_says(lines, 5, "\"name\": \"thread begin\""));
	cr_assert(pft_reader_says(lines, 6, "\"args\": {\"dropped\": 77}"));
	cr_assert(json_holds("\"process_name\",\"args\":{\"name\":\"program\"}"));
	cr_assert(json_holds("\"thread_name\",\"args\":{\"name\":\"worker\"}"));
	cr_assert(json_holds("\"thread_name\",\"args\":{\"name\":\"coroutine 1 of 4321\"}"));
	cr_assert(json_holds("\"pftshim.mode\":\"dev\""));
	cr_assert(json_holds("\"pftshim.produced\":10,\"pftshim.written\":5,\"pftshim.filtered\":4,\"pftshim."
			     "dropped\":1,\"pftshim.duration_ns\":0"));
}

Test(trace_json, holds_what_the_packets_hold)
{
	start_with(packets_fd);
	say_everything();
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	is_everything();
	cr_assert_eq(pft_reader_slices(packets_fd)->count, 6);
}

Test(trace_json, stands_alone)
{
	start_with(-1);
	say_everything();
	cr_assert_eq(pft_trace_bytes(trace), 0);
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	is_everything();
}

Test(trace_json, is_whole_at_totals_and_goes_on)
{
	start_with(packets_fd);
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_totals(trace, totals);
	cr_assert_eq(pft_trace_flush(trace), 0);
	cr_assert(json_holds("otherData"));
	cr_assert(pft_reader_says(pft_reader_chrome(json_fd), 0, "\"ph\": \"B\""));
	pft_trace_end(thread, START + 9, 0);
	cr_assert_eq(pft_trace_flush(trace), 0);
	cr_assert(!json_holds("otherData"));
	cr_assert(pft_reader_says(pft_reader_chrome(json_fd), 0, "\"dur\": 8"));
}

Test(trace_json, shows_no_slice_that_the_packets_do_not_show)
{
	start_with(packets_fd);
	pft_trace_end(thread, START, 0);
	for (uint64_t i = 0; i < PFT_DEPTH_MAX + 10; i++)
		pft_trace_begin(thread, START + i, hook, 0);
	for (uint64_t i = 0; i < PFT_DEPTH_MAX + 10; i++)
		pft_trace_end(thread, START + 1000 + i, 0);
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	cr_assert_eq(pft_reader_chrome(json_fd)->count, PFT_DEPTH_MAX);
}

Test(trace_json, tells_the_error_of_either_file)
{
	json_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	start_with(packets_fd);
	pft_trace_instant(thread, START, "i", "c");
	cr_assert_neq(pft_trace_flush(trace), 0);
	cr_assert_eq(pft_trace_close(trace, totals), 0);
}
