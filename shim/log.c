// SPDX-License-Identifier: MIT
// One line to stderr, for all of shim/. Startup, app and flusher context.
// The rule: a line that cannot be written is lost without a trace, and without the signal that writing
// raises.
#include "shim/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"

#define LOG_LINE 1024
#define LOG_STDERR 2
#define LOG_PIECE 4096 // a pipe that has room takes so much (PIPE_BUF)
#define LOG_PATIENCE_MS 1000

static bool log_verbose;
static bool log_file_known;
static dev_t log_device;
static ino_t log_inode;

// A program may close its stderr and then open a file of its own, which gets the number 2.
static bool log_stderr_is_ours(void)
{
	struct stat now = {0};

	if (!log_file_known)
		return true;
	return pft_sys_fstat(LOG_STDERR, &now) == 0 && now.st_dev == log_device && now.st_ino == log_inode;
}

// A pipe that is full may never be read.
static bool log_has_room(void)
{
	struct pollfd stderr_now = {.fd = LOG_STDERR, .events = POLLOUT};

	return pft_sys3(SYS_poll, &stderr_now, 1, LOG_PATIENCE_MS) > 0;
}

static uint64_t log_signal_of(long result)
{
	if (result == -EPIPE)
		return UINT64_C(1) << (SIGPIPE - 1);
	return result == -EFBIG ? UINT64_C(1) << (SIGXFSZ - 1) : 0;
}

// stderr may be a pipe that nobody reads, or a file at its limit (RLIMIT_FSIZE): the signal that our write
// raises must not reach the program, one that was pending before must. write() sends it to the calling
// thread.
static long log_write(const char *line, size_t size)
{
	const uint64_t signals = log_signal_of(-EPIPE) | log_signal_of(-EFBIG);
	const struct timespec now = {0, 0};
	uint64_t pending = 0, mask, raised;
	long result;

	if (!log_has_room())
		return -EAGAIN;
	pft_sys_sigpending(&pending);
	pft_sys_sigprocmask(SIG_BLOCK, &signals, &mask);
	result = pft_sys_write(LOG_STDERR, line, size);
	raised = log_signal_of(result) & ~pending;
	if (raised)
		pft_sys_sigtimedwait(&raised, &now);
	pft_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
	return result;
}

static void log_line(const char *first, va_list rest)
{
	char line[LOG_LINE];
	struct pft_text text = pft_text_in(line, sizeof(line) - 1);

	pft_text_add(&text, "pftshim: ");
	for (const char *part = first; part; part = va_arg(rest, const char *))
		pft_text_add(&text, part);
	for (size_t i = 0; i < text.used; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[text.used] = '\n';
	if (log_stderr_is_ours())
		log_write(line, text.used + 1);
}

void pft_log_text(const char *text, size_t size)
{
	long written;

	while (size && log_stderr_is_ours()) {
		written = log_write(text, size < LOG_PIECE ? size : LOG_PIECE);
		if (written < 0 && written != -EINTR)
			return;
		text += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
}

void pft_log_say(const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	log_line(first, rest);
	va_end(rest);
}

void pft_log_verbose(const char *first, ...)
{
	va_list rest;

	if (!log_verbose)
		return;
	va_start(rest, first);
	log_line(first, rest);
	va_end(rest);
}

void pft_log_set_verbose(bool verbose)
{
	struct stat now = {0};

	// A closed stderr leaves zeroes, which are no file: what comes to stand there is the program's.
	pft_sys_fstat(LOG_STDERR, &now);
	log_verbose = verbose;
	log_file_known = true;
	log_device = now.st_dev;
	log_inode = now.st_ino;
}

const char *pft_log_reason(long error)
{
	const char *words = strerrordesc_np((int)(error < 0 ? -error : error));

	return words ? words : "unknown error";
}
