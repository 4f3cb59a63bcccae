// SPDX-License-Identifier: MIT
// Unit tests of encoder/out.c: files, pipes, full disks and size limits. Run by Criterion.
#include "encoder/out.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKET 1000

static struct pft_arena arena;
static struct pft_out out;

static void open_on(int fd)
{
	cr_assert_geq(fd, PFT_OUT_NOWHERE);
	cr_assert_eq(pft_out_open(&out, fd, &arena), 0);
}

// A packet of PACKET equal bytes, counted as an event.
static void put(char byte)
{
	uint8_t *at = pft_out_reserve(&out, PACKET);

	memset(at, byte, PACKET);
	pft_out_commit_event(&out, at + PACKET);
}

static off_t size_of(int fd)
{
	struct stat found;

	cr_assert_eq(fstat(fd, &found), 0);
	return found.st_size;
}

static int memory_file(void)
{
	return memfd_create("out", 0);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(out, writes_at_the_flush_what_was_committed_in_order)
{
	int fd = memory_file();
	char bytes[2 * PACKET];

	open_on(fd);
	put('a');
	put('b');
	cr_assert_eq(size_of(fd), 0);
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(pread(fd, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
	cr_assert_eq(bytes[PACKET - 1], 'a');
	cr_assert_eq(bytes[PACKET], 'b');
	cr_assert_eq(out.bytes, sizeof bytes);
	cr_assert_eq(out.lost, 0);
}

Test(out, leaves_out_what_was_reserved_but_not_committed)
{
	int fd = memory_file();

	open_on(fd);
	put('a');
	memset(pft_out_reserve(&out, PACKET), 'x', PACKET);
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(size_of(fd), PACKET);
}

Test(out, writes_whole_packets_by_itself_when_the_buffer_is_full)
{
	int fd = memory_file();

	open_on(fd);
	for (int i = 0; i < 200; i++) {
		put('a');
		cr_assert_eq(size_of(fd) % PACKET, 0);
	}
	cr_assert_gt(size_of(fd), 100 * PACKET);
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(size_of(fd), 200 * PACKET);
}

Test(out, takes_the_largest_packet)
{
	int fd = memory_file();
	uint8_t *at;

	open_on(fd);
	put('a');
	at = pft_out_reserve(&out, PFT_OUT_PACKET_MAX);
	memset(at, 'b', PFT_OUT_PACKET_MAX);
	pft_out_commit(&out, at + PFT_OUT_PACKET_MAX);
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(size_of(fd), PACKET + PFT_OUT_PACKET_MAX);
}

Test(out, appends_to_a_file_that_holds_something)
{
	int fd = memory_file();

	cr_assert_eq(write(fd, "before", 6), 6);
	open_on(fd);
	put('a');
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(size_of(fd), 6 + PACKET);
	cr_assert_eq(out.bytes, PACKET);
}

static void ignore_alarm(int signal)
{
	(void)signal;
}

// Signals arrive all the time, and no system call is restarted.
static void be_interrupted(void)
{
	struct sigaction action = {.sa_handler = ignore_alarm};
	struct itimerval often = {.it_interval.tv_usec = 500, .it_value.tv_usec = 500};

	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

// In a child: reads all of the pipe, late; its exit status says whether `bytes` came.
static pid_t slow_reader(const int ends[2], size_t bytes)
{
	static char buffer[4096];
	pid_t child = fork();
	size_t got = 0;

	if (child)
		return child;
	close(ends[1]);
	usleep(20000);
	for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0; got += (size_t)count)
		usleep(100);
	_exit(got == bytes ? 0 : 1);
}

Test(out, goes_on_after_signals_and_short_writes)
{
	int ends[2], status;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = slow_reader(ends, 500 * PACKET);
	close(ends[0]);
	be_interrupted();
	open_on(ends[1]);
	for (int i = 0; i < 500; i++)
		put('a');
	cr_assert_eq(pft_out_flush(&out), 0);
	close(ends[1]);
	while (waitpid(child, &status, 0) < 0)
		cr_assert_eq(errno, EINTR);
	cr_assert_eq(status, 0);
	cr_assert_eq(out.bytes, 500 * PACKET);
}

Test(out, says_once_that_the_disk_is_full_and_counts_what_is_lost)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	open_on(fd);
	put('a');
	put('b');
	cr_assert_eq(pft_out_flush(&out), -ENOSPC);
	cr_assert_eq(out.lost, 2);
	put('c');
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(out.lost, 3);
	cr_assert_eq(out.bytes, 0);
}

Test(out, cuts_the_file_at_a_whole_packet_at_the_size_limit_without_a_signal)
{
	int fd = memory_file();

	limit_file_size(100 * PACKET + PACKET / 2);
	open_on(fd);
	for (int i = 0; i < 300; i++)
		put('a');
	cr_assert_eq(pft_out_flush(&out), -EFBIG);
	limit_file_size(RLIM_INFINITY);
	cr_assert_gt(size_of(fd), 0);
	cr_assert_eq(size_of(fd) % PACKET, 0);
	cr_assert_eq(size_of(fd), (off_t)out.bytes);
	cr_assert_eq(out.bytes / PACKET + out.lost, 300);
}

Test(out, cuts_only_its_own_bytes_off_in_append_mode)
{
	char path[] = "/tmp/pft_test_out_XXXXXX";
	int made = mkstemp(path);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	unlink(path);
	cr_assert_eq(write(made, "before", 6), 6);
	limit_file_size(6 + PACKET / 2);
	open_on(fd);
	put('a');
	cr_assert_eq(pft_out_flush(&out), -EFBIG);
	limit_file_size(RLIM_INFINITY);
	cr_assert_eq(size_of(made), 6);
}

// ---- endings ----------------------------------------------------------------------------------------

static void holds(int fd, const char *text)
{
	char bytes[64] = {0};

	cr_assert_eq(size_of(fd), (off_t)strlen(text));
	cr_assert_eq(pread(fd, bytes, sizeof bytes - 1, 0), (ssize_t)strlen(text));
	cr_assert_str_eq(bytes, text);
}

static void say(const char *text)
{
	uint8_t *at = pft_out_reserve(&out, strlen(text));

	memcpy(at, text, strlen(text));
	pft_out_commit(&out, at + strlen(text));
}

Test(out, ends_the_file_after_every_write)
{
	int fd = memory_file();

	open_on(fd);
	pft_out_set_ending(&out, "]");
	say("[a");
	cr_assert_eq(pft_out_flush(&out), 0);
	holds(fd, "[a]");
	cr_assert_eq(out.bytes, 2);
	cr_assert_eq(pft_out_flush(&out), 0);
	holds(fd, "[a]");
	say(",b");
	cr_assert_eq(pft_out_flush(&out), 0);
	holds(fd, "[a,b]");
	pft_out_set_ending(&out, NULL);
	say(",c]");
	cr_assert_eq(pft_out_flush(&out), 0);
	holds(fd, "[a,b,c]");
	cr_assert_eq(out.bytes, 7);
}

Test(out, takes_an_ending_back_that_was_written_in_pieces)
{
	int fd = memory_file();
	uint64_t mark;

	open_on(fd);
	pft_out_set_ending(&out, "]");
	say("[a");
	pft_out_drain(&out);
	mark = out.bytes;
	say(",open");
	pft_out_drain(&out);
	pft_out_set_ending(&out, NULL);
	say("]");
	pft_out_end_from(&out, mark);
	holds(fd, "[a,open]");
	cr_assert_eq(out.bytes, 2);
	pft_out_set_ending(&out, "]");
	say(",b");
	cr_assert_eq(pft_out_flush(&out), 0);
	holds(fd, "[a,b]");
	cr_assert_eq(out.bytes, 4);
}

Test(out, keeps_the_ending_when_the_disk_is_full)
{
	int fd = memory_file();

	open_on(fd);
	pft_out_set_ending(&out, "]");
	say("[a");
	cr_assert_eq(pft_out_flush(&out), 0);
	limit_file_size(3);
	say(",b");
	cr_assert_eq(pft_out_flush(&out), -EFBIG);
	limit_file_size(RLIM_INFINITY);
	holds(fd, "[a]");
}

Test(out, goes_nowhere_without_an_error)
{
	open_on(PFT_OUT_NOWHERE);
	for (int i = 0; i < 200; i++)
		put('a');
	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(out.bytes, 0);
	cr_assert_eq(out.lost, 0);
}
