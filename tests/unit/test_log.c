// SPDX-License-Identifier: MIT
// The one line on stderr.
#include "shim/log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/captured.h"

Test(log, says_its_parts_as_one_line)
{
	captured_start();
	pft_log_say("PFT_MODE", "=", "loud", NULL);
	cr_assert_str_eq(captured_stop(), "pftshim: PFT_MODE=loud\n");
}

Test(log, keeps_to_one_line_whatever_is_quoted)
{
	captured_start();
	pft_log_say("a\nb\x1b[31mc\x7f", NULL);
	cr_assert_str_eq(captured_stop(), "pftshim: a?b?[31mc?\n");
}

Test(log, cuts_a_line_at_a_kibibyte_and_ends_it)
{
	char long_text[3000];
	const char *line;

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	captured_start();
	pft_log_say(long_text, NULL);
	line = captured_stop();
	cr_assert_leq(strlen(line), 1024);
	cr_assert_geq(strlen(line), 1020);
	cr_assert_eq(line[strlen(line) - 1], '\n');
}

Test(log, is_verbose_only_when_asked)
{
	captured_start();
	pft_log_verbose("before", NULL);
	pft_log_set_verbose(true);
	pft_log_verbose("after", NULL);
	pft_log_set_verbose(false);
	pft_log_verbose("off again", NULL);
	cr_assert_str_eq(captured_stop(), "pftshim: after\n");
}

Test(log, survives_a_pipe_that_nobody_reads)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], 2);
	signal(SIGPIPE, SIG_DFL);
	pft_log_say("into the void", NULL);
}

Test(log, survives_a_file_that_may_not_grow)
{
	const struct rlimit none = {0, 0};
	char path[] = "/tmp/pft-log-XXXXXX";
	sigset_t pending;

	dup2(mkstemp(path), 2);
	unlink(path);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &none);
	pft_log_say("too much", NULL);
	sigpending(&pending);
	cr_assert_not(sigismember(&pending, SIGXFSZ));
}

Test(log, does_not_wait_for_who_reads_nothing, .timeout = 30)
{
	char page[4096] = {0};
	int ends[2];

	cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	dup2(ends[1], 2);
	pft_log_say("nobody hears this", NULL);
}

Test(log, leaves_a_pending_sigpipe_pending)
{
	sigset_t pipe_signal, pending;
	int ends[2];

	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
	raise(SIGPIPE);
	cr_assert_eq(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], 2);
	pft_log_say("into the void", NULL);
	sigpending(&pending);
	cr_assert(sigismember(&pending, SIGPIPE));
}

Test(log, leaves_the_signal_mask_and_errno_alone)
{
	sigset_t before = {0}, after = {0};

	sigprocmask(SIG_BLOCK, NULL, &before);
	errno = 77;
	close(2);
	pft_log_say("nobody hears this", NULL);
	cr_assert_eq(errno, 77);
	sigprocmask(SIG_BLOCK, NULL, &after);
	cr_assert_eq(memcmp(&before, &after, sizeof(before)), 0);
}

Test(log, writes_nothing_to_a_file_that_took_the_place_of_stderr)
{
	char path[] = "/tmp/pft-log-XXXXXX";
	int file = mkstemp(path);
	struct stat found;

	pft_log_set_verbose(true);
	dup2(file, 2);
	pft_log_say("not yours", NULL);
	fstat(file, &found);
	unlink(path);
	cr_assert_eq(found.st_size, 0);
}

Test(log, writes_nothing_to_a_file_where_no_stderr_was)
{
	char path[] = "/tmp/pft-log-XXXXXX";
	int file = mkstemp(path);
	struct stat found;

	close(2);
	pft_log_set_verbose(true);
	dup2(file, 2);
	pft_log_say("not yours", NULL);
	fstat(file, &found);
	unlink(path);
	cr_assert_eq(found.st_size, 0);
}

Test(log, words_errors_with_either_sign)
{
	cr_assert_str_eq(pft_log_reason(-EACCES), "Permission denied");
	cr_assert_str_eq(pft_log_reason(EACCES), "Permission denied");
	cr_assert_str_eq(pft_log_reason(-4000), "unknown error");
}
