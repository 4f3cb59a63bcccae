// SPDX-License-Identifier: MIT
// Unit tests of encoder/executions/glance.c and names.c. Run by Criterion.
#include "encoder/executions/glance.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/executions/names.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

static int packets_fd, json_fd;
static enum pft_compress compress;

// A trace of so many calls, as packets and as JSON, that took 5 s.
static void record(unsigned calls, bool to_its_end)
{
	static const struct pft_totals totals = {
		.produced = 100, .written = 70, .filtered = 10, .dropped = 20};
	struct pft_session *session = pft_fake_session(4096, 1);
	struct pft_trace *trace;
	struct pft_track *track;
	uint32_t hook = pft_fake_hook(session, "object", "f");

	session->pid = 42;
	session->compress = compress;
	packets_fd = pft_reader_file();
	json_fd = pft_reader_file();
	trace = pft_trace_open(session, packets_fd, pft_fake_clocks(session, 0), 0);
	cr_assert_eq(pft_trace_json(trace, json_fd), 0);
	track = pft_trace_thread(trace, 43, "thread");
	for (unsigned i = 0; i < calls; i++) {
		pft_trace_begin(track, session->boot_ns + 2 * i, hook, 0);
		pft_trace_end(track, session->boot_ns + 2 * i + 1, 0);
	}
	pft_trace_clocks(trace, pft_fake_clocks(session, UINT64_C(5000000000)));
	if (to_its_end)
		cr_assert_eq(pft_trace_close(trace, totals), 0);
	else
		cr_assert_eq(pft_trace_flush(trace), 0);
}

static struct pft_glance glance_of(
	int fd, void (*glance_at)(struct pft_glance *glance, int fd, enum pft_glance_at at))
{
	struct pft_glance glance = {0};

	glance_at(&glance, fd, PFT_GLANCE_BEGINNING);
	glance_at(&glance, fd, PFT_GLANCE_END);
	return glance;
}

static void says_everything(const struct pft_glance *glance)
{
	cr_assert_eq(glance->pid, 42);
	cr_assert(glance->ended);
	cr_assert_eq(glance->duration_ns, UINT64_C(5000000000));
	cr_assert_eq(glance->events, 100);
	cr_assert_eq(glance->dropped, 20);
}

Test(glance, tells_what_a_trace_says_at_its_ends)
{
	struct pft_glance glance;

	record(3, true);
	glance = glance_of(packets_fd, pft_glance_trace);
	says_everything(&glance);
	cr_assert_str_eq(glance.process, "program");
	cr_assert_eq(glance.start_ns, UINT64_C(1700000000000000000));
}

Test(glance, finds_the_last_packets_of_a_long_trace)
{
	struct stat found;

	// Each size has the beginning of what is read at another place of a packet.
	for (unsigned calls = 7000; calls < 7030; calls++) {
		struct pft_glance glance;

		record(calls, true);
		cr_assert_eq(fstat(packets_fd, &found), 0);
		cr_assert_gt(found.st_size, 2 * 80 << 10);
		glance = glance_of(packets_fd, pft_glance_trace);
		says_everything(&glance);
		close(packets_fd);
		close(json_fd);
	}
}

Test(glance, looks_into_what_is_compressed)
{
	for (compress = PFT_COMPRESS_DEFLATE; compress <= PFT_COMPRESS_ZSTD; compress++)
		for (unsigned calls = 3; calls < 30000; calls += 9999) {
			struct pft_glance glance;

			record(calls, true);
			glance = glance_of(packets_fd, pft_glance_trace);
			says_everything(&glance);
			cr_assert_str_eq(glance.process, "program");
		}
}

Test(glance, tells_what_json_says_at_its_ends)
{
	struct pft_glance glance;

	record(3, true);
	glance = glance_of(json_fd, pft_glance_json);
	says_everything(&glance);
	record(3000, true);
	glance = glance_of(json_fd, pft_glance_json);
	says_everything(&glance);
}

Test(glance, knows_no_end_of_a_trace_that_has_none)
{
	struct pft_glance glance;

	record(10, false);
	glance = glance_of(packets_fd, pft_glance_trace);
	cr_assert_eq(glance.pid, 42);
	cr_assert(!glance.ended);
	glance = glance_of(json_fd, pft_glance_json);
	cr_assert_eq(glance.pid, 42);
	cr_assert(!glance.ended);
}

Test(glance, knows_no_end_of_a_trace_that_was_cut)
{
	struct pft_glance glance;
	struct stat found;

	record(10, true);
	cr_assert_eq(fstat(packets_fd, &found), 0);
	cr_assert_eq(ftruncate(packets_fd, found.st_size - 1), 0);
	glance = glance_of(packets_fd, pft_glance_trace);
	cr_assert_eq(glance.pid, 42);
	cr_assert(!glance.ended);
}

Test(glance, makes_nothing_of_what_is_no_trace)
{
	static uint8_t bytes[200 << 10];
	static const struct pft_glance nothing;

	srand(1);
	for (unsigned turn = 0; turn < 20; turn++) {
		int fd = pft_reader_file();
		struct pft_glance glance;

		// Bytes that often look like packets.
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = turn % 2 ? (uint8_t)rand() : (uint8_t)("\x0a\x00\x0a\x02"[rand() % 4]);
		cr_assert_eq(write(fd, bytes, turn * (sizeof bytes / 20)), turn * (sizeof bytes / 20));
		glance = glance_of(fd, pft_glance_trace);
		cr_assert_eq(memcmp(&glance, &nothing, sizeof glance), 0);
		glance = glance_of(fd, pft_glance_json);
		cr_assert_eq(memcmp(&glance, &nothing, sizeof glance), 0);
		close(fd);
	}
}

// ---- names ------------------------------------------------------------------------------------------

static void assert_name(const char *name, enum pft_name_kind kind, const char *process, unsigned part)
{
	struct pft_name found = pft_name_of(name);

	cr_assert_eq(found.kind, kind, "%s", name);
	cr_assert_eq(found.process_length, strlen(process), "%s", name);
	cr_assert_eq(strncmp(name, process, found.process_length), 0, "%s", name);
	if (part)
		cr_assert_eq(found.part, part, "%s", name);
}

Test(executions, tell_files_by_their_names)
{
	assert_name("git.12.pftrace", PFT_NAME_TRACE, "git.12", 1);
	assert_name("git.12.1.pftrace", PFT_NAME_TRACE, "git.12.1", 1);
	assert_name("git.12.part2.pftrace", PFT_NAME_TRACE, "git.12", 2);
	assert_name("git.12.part10.json", PFT_NAME_JSON, "git.12", 10);
	assert_name("git.12.part.pftrace", PFT_NAME_TRACE, "git.12.part", 1);
	assert_name(".part2.pftrace", PFT_NAME_OTHER, "", 0);
	assert_name("git.12.json", PFT_NAME_JSON, "git.12", 1);
	assert_name("git.12.report.json", PFT_NAME_REPORT, "git.12", 0);
	assert_name("git.12.report.trace.json", PFT_NAME_REPORT, "git.12", 0);
	assert_name("git.12.report.txt", PFT_NAME_REPORT, "git.12", 0);
	assert_name("git.12.report.folded", PFT_NAME_REPORT, "git.12", 0);
	assert_name("git.12.session", PFT_NAME_SESSION, "git.12", 0);
	assert_name(".pftrace", PFT_NAME_OTHER, "", 0);
	assert_name(".hidden.pftrace", PFT_NAME_OTHER, "", 0);
	assert_name("notes.txt", PFT_NAME_OTHER, "", 0);
	assert_name("git.12", PFT_NAME_OTHER, "", 0);
}
