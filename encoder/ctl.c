// SPDX-License-Identifier: MIT
// pft-ctl PROCESS COMMAND: asks a recording process for something, through its session. A program of its own,
// called by `pft ctl`. The rule: the session is somebody else's memory; what is read from it is checked or
// printed, and nothing but the request and the flusher's word is written.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "encoder/base/segment.h"
#include "encoder/base/text.h"
#include "encoder/fail.h"
#include "encoder/session.h"

// The flusher answers at once; a file system may hold it up.
#define PATIENCE_S 10
#define GRACE 3 // naps of a tenth of a second

// ---- the session ------------------------------------------------------------------------------------

// A descriptor of the session file, or -1 when it is none that this program knows.
static int session_open(const char *path, struct pft_session *header)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct stat about;

	if (fd < 0)
		return -1;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
		header->magic == PFT_SESSION_MAGIC && header->version == PFT_SESSION_VERSION)
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

// A process that was killed leaves its session, and its pid comes round: the youngest is the living one's.
static int session_of_pid(const char *pid)
{
	static struct pft_session header;
	uint64_t youngest = 0;
	int found = -1;

	for (unsigned number = 0; number < PFT_SESSION_NUMBERS; number++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), PFT_SESSION_MEMORY "/" PFT_SESSION_NAME "%.16s.%u", pid, number);
		fd = session_open(path, &header);
		if (fd < 0 && errno == EACCES)
			pft_fail(PFT_FAILED, "%s: belongs to another user", pid);
		if (fd < 0)
			continue;
		if (header.finished || header.boot_ns < youngest) {
			close(fd);
			continue;
		}
		if (found >= 0)
			close(found);
		youngest = header.boot_ns;
		found = fd;
	}
	return found;
}

static struct pft_session *session_find(const char *process, int *fd)
{
	static struct pft_session header;
	bool by_pid = process[strspn(process, "0123456789")] == '\0';
	void *at;

	*fd = by_pid ? session_of_pid(process) : session_open(process, &header);
	if (*fd < 0 && by_pid)
		pft_fail(PFT_FAILED, "%s: no such process is being recorded", process);
	if (*fd < 0)
		pft_fail(PFT_FAILED, "%s: is no session of this version: %s", process, strerror(errno));
	at = mmap(NULL, sizeof(header), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (at == MAP_FAILED)
		pft_fail(PFT_FAILED, "%s: %s", process, strerror(errno));
	return at;
}

static bool is_alive(const struct pft_session *session)
{
	return kill((pid_t)session->pid, 0) == 0 || errno == EPERM;
}

// ---- asking -----------------------------------------------------------------------------------------

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint32_t ask(struct pft_session *session, enum pft_command command)
{
	struct pft_control *control = &session->control;
	uint32_t request = __atomic_load_n(&control->request, __ATOMIC_RELAXED) + 1;

	request += request == 0; // means none
	__atomic_store_n(&control->command, command, __ATOMIC_RELAXED);
	__atomic_store_n(&control->request, request, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&session->flusher_asleep, 0, __ATOMIC_SEQ_CST))
		futex_wake(&session->flusher_asleep);
	return request;
}

static bool runs(const struct pft_session *session)
{
	return __atomic_load_n(&session->flusher_runs, __ATOMIC_ACQUIRE);
}

// The first event may just have started the flusher.
static bool await(struct pft_session *session, uint32_t request)
{
	const struct timespec nap = {0, 100000000};
	struct pft_control *control = &session->control;
	uint32_t answered;

	for (unsigned nap_count = 0; nap_count < 10 * PATIENCE_S; nap_count++) {
		answered = __atomic_load_n(&control->answered, __ATOMIC_ACQUIRE);
		if (answered == request)
			return true;
		if (!is_alive(session) || (nap_count >= GRACE && !runs(session)))
			return false;
		syscall(SYS_futex, &control->answered, FUTEX_WAIT, answered, &nap, NULL, 0);
	}
	return false;
}

// ---- saying -----------------------------------------------------------------------------------------

// Of the segment that is written.
static const char *trace_path(const struct pft_session *session)
{
	static char path[sizeof(session->trace_path) + 32];
	struct pft_text text = pft_text_in(path, sizeof(path));
	size_t size = strnlen(session->trace_path, sizeof(session->trace_path));
	const char *ending = memrchr(session->trace_path, '.', size);
	size_t name = ending ? (size_t)(ending - session->trace_path) : size;

	pft_text_add_bytes(&text, session->trace_path, name);
	pft_segment_add(&text, session->segments.number);
	pft_text_add_bytes(&text, session->trace_path + name, size - name);
	return path;
}

static void say_status(const struct pft_session *session)
{
	static const char *const modes[] = {"off", "user", "dev"};
	static const char *const policies[] = {"wait", "drop", "overwrite"};
	const struct pft_control *control = &session->control;

	printf("process   %.*s (%" PRIu32 ")\n", (int)sizeof(session->process), session->process,
		session->pid);
	printf("mode      %s\n", session->mode < 3 ? modes[session->mode] : "?");
	printf("window    %s\n", pft_window_is_closed(pft_session_window(session)) ? "closed" : "open");
	printf("overflow  %s\n", session->overflow < 3 ? policies[session->overflow] : "?");
	printf("events    %" PRIu64 " = %" PRIu64 " written + %" PRIu64 " filtered + %" PRIu64 " dropped\n",
		control->produced, control->written, control->filtered, control->dropped);
	printf("trace     %" PRIu64 " bytes, %s\n", control->trace_bytes, trace_path(session));
	if (session->segments.number > 1)
		printf("segments  %" PRIu32 ", %" PRIu32 " removed\n", session->segments.number,
			session->segments.removed);
}

static const char *const commands[PFT_COMMAND_COUNT] = {
	[PFT_COMMAND_STATUS] = "status",
	[PFT_COMMAND_FLUSH] = "flush",
	[PFT_COMMAND_START] = "start",
	[PFT_COMMAND_STOP] = "stop",
	[PFT_COMMAND_DUMP] = "dump",
};

static enum pft_command command_of(const char *word)
{
	unsigned command = 0;

	while (command < PFT_COMMAND_COUNT && strcmp(commands[command], word) != 0)
		command++;
	if (command == PFT_COMMAND_COUNT)
		pft_fail(PFT_REFUSED, "%s: no such command; see pft ctl -h", word);
	return command;
}

// Whether the flusher has carried it out. It may not run yet: then it does with the next event.
static bool carry_out(struct pft_session *session, const char *process, enum pft_command command)
{
	if (await(session, ask(session, command)))
		return true;
	if (!is_alive(session))
		pft_fail(PFT_FAILED, "%s: the process has ended", process);
	if (runs(session))
		pft_fail(PFT_FAILED, "%s: no answer in %d s; is the process stopped?", process, PATIENCE_S);
	printf("%s: nothing is recorded now; done with the next event\n", process);
	return false;
}

int main(int count, char **arguments)
{
	struct pft_session *session;
	enum pft_command command;
	int fd;

	if (count != 3)
		pft_fail(PFT_REFUSED, "a process and a command are wanted; see pft ctl -h");
	command = command_of(arguments[2]);
	session = session_find(arguments[1], &fd);
	if (!is_alive(session))
		pft_fail(PFT_FAILED, "%s: the process has ended", arguments[1]);
	if (flock(fd, LOCK_EX) < 0)
		pft_fail(PFT_FAILED, "%s: %s", arguments[1], strerror(errno));
	if (carry_out(session, arguments[1], command) && session->control.result < 0)
		pft_fail(PFT_FAILED, "%s: %s: %s", arguments[1], arguments[2],
			strerror(-session->control.result));
	if (command == PFT_COMMAND_STATUS)
		say_status(session);
	return 0;
}
