// SPDX-License-Identifier: MIT
// Reads other sessions: see relatives.h. Startup context, and hot in a forked child. The rule: anybody may
// put files into /dev/shm, so only what is ours and whole is believed.
#include "shim/relatives.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/proc.h"

// Generations between us and an ancestor that records.
#define GENERATIONS 32

static struct pft_session other; // too large for some stacks

void pft_relatives_name(char *path, size_t size, uint32_t pid, unsigned number)
{
	struct pft_text text = pft_text_in(path, size);

	pft_text_add(&text, PFT_SESSION_MEMORY "/" PFT_SESSION_NAME);
	pft_text_add_number(&text, pid);
	pft_text_add(&text, ".");
	pft_text_add_number(&text, number);
}

// ---- one session ------------------------------------------------------------------------------------

static bool read_header(const char *path, struct pft_session *header)
{
	struct stat about;
	long fd = pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	bool good;

	if (fd < 0)
		return false;
	good = pft_sys_fstat((int)fd, &about) == 0 && S_ISREG(about.st_mode) &&
	       about.st_uid == (uid_t)pft_sys_geteuid() &&
	       pft_sys_read((int)fd, header, sizeof(*header)) == sizeof(*header) &&
	       header->magic == PFT_SESSION_MAGIC && header->version == PFT_SESSION_VERSION;
	pft_sys_close((int)fd);
	return good;
}

static void add_piece(char *to, size_t size, const char *from, size_t length)
{
	struct pft_text text = pft_text_in(to, size);

	pft_text_add_bytes(&text, from, length);
}

// {directory}/executions/{execution}/{process}.pftrace
static void execution_of(struct pft_relative *relative, const struct pft_session *session)
{
	const char *path = session->trace_path;
	const char *end = memrchr(path, '/', strnlen(path, sizeof(session->trace_path)));
	const char *start = end ? memrchr(path, '/', (size_t)(end - path)) : NULL;

	if (start)
		add_piece(relative->execution, sizeof(relative->execution), start + 1,
			(size_t)(end - start - 1));
}

void pft_relatives_of(struct pft_relative *relative, const struct pft_session *session)
{
	*relative = (struct pft_relative){
		.real_ns = session->real_ns, .pid = session->pid, .outer_pid = session->outer_pid};
	add_piece(relative->process, sizeof(relative->process), session->process,
		strnlen(session->process, sizeof(session->process)));
	execution_of(relative, session);
}

// ---- before exec ------------------------------------------------------------------------------------

// The link to a session lies beside its trace and differs in the ending (place.h).
static void remove_link(char *trace_path)
{
	char *ending = strrchr(trace_path, '.');

	if (!ending || (strcmp(ending, ".pftrace") != 0 && strcmp(ending, ".json") != 0) ||
		ending + sizeof(".session") > trace_path + PFT_SESSION_PATH)
		return;
	memcpy(ending, ".session", sizeof(".session"));
	pft_sys1(SYS_unlink, trace_path);
}

bool pft_relatives_before(struct pft_relative *before, struct pft_relative *parent)
{
	uint32_t pid = (uint32_t)pft_sys_getpid();
	bool found = false;
	char path[64];

	for (unsigned number = 0; number < PFT_SESSION_NUMBERS; number++) {
		pft_relatives_name(path, sizeof(path), pid, number);
		if (!read_header(path, &other))
			break;
		if (other.pid != pid || !other.finished)
			continue;
		pft_relatives_of(before, &other);
		*parent = other.parent;
		found = true;
		pft_sys1(SYS_unlink, path);
		other.trace_path[sizeof(other.trace_path) - 1] = '\0';
		remove_link(other.trace_path);
	}
	return found;
}

// ---- ancestors --------------------------------------------------------------------------------------

static uint32_t parent_of(uint32_t pid)
{
	return (uint32_t)pft_proc_stat(pid, PFT_PROC_PARENT);
}

// In nanoseconds of CLOCK_BOOTTIME, from ticks of 10 ms.
static uint64_t start_of(uint32_t pid)
{
	return pft_proc_stat(pid, PFT_PROC_START) * 10000000;
}

// A pid comes round: the session of a killed process may stand under an ancestor's.
static bool read_living(uint32_t pid, struct pft_session *header)
{
	char path[64];

	for (unsigned number = 0; number < PFT_SESSION_NUMBERS; number++) {
		pft_relatives_name(path, sizeof(path), pid, number);
		if (!read_header(path, header))
			return false;
		if (header->pid == pid && start_of(pid) <= header->boot_ns)
			return true;
	}
	return false;
}

bool pft_relatives_parent(struct pft_relative *parent)
{
	uint32_t pid = (uint32_t)pft_sys0(SYS_getppid);

	*parent = (struct pft_relative){0};
	for (unsigned i = 0; pid && i < GENERATIONS; i++, pid = parent_of(pid))
		if (read_living(pid, &other)) {
			pft_relatives_of(parent, &other);
			return true;
		}
	return false;
}

// ---- namespaces -------------------------------------------------------------------------------------

uint32_t pft_relatives_outer_pid(void)
{
	static char buffer[4096];
	const char *line =
		pft_proc_read(0, "/status", buffer, sizeof(buffer)) ? strstr(buffer, "\nNSpid:\t") : NULL;
	const char *outer = line ? line + strlen("\nNSpid:\t") : "";
	uint32_t pid = (uint32_t)pft_proc_number(outer);

	return pid == (uint32_t)pft_sys_getpid() ? 0 : pid;
}
