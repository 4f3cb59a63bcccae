// SPDX-License-Identifier: MIT
// What a process gives up, interposed. Identity and root directory: the flusher must have its file before,
// and gives up the same. Namespaces: the kernel refuses some to a process of two threads (unshare(2),
// setns(2)), so the flusher goes and comes back. System calls (seccomp): recording ends. App context, and a
// child of vfork, which records nothing of its own and is let through.
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/export.h"
#include "shim/flusher.h"
#include "shim/hot/self.h"
#include "shim/next.h"
#include "shim/process.h"

static bool go_away(void)
{
	return pft_process_records() && pft_flusher_stop(false);
}

static void come_back(bool was_here)
{
	if (was_here)
		pft_flusher_start();
}

static void end_recording(void)
{
	if (pft_process_records())
		pft_process_end();
}

static void end_for_filter(void)
{
	// Not in a child of vfork: this is its parent's memory.
	if (!pft_session || pft_session->pid == (uint32_t)pft_sys_getpid())
		pft_process_filters = true;
	end_recording();
}

// Behind a filter the kernel may kill for any system call of ours, and in strict mode for reading the
// time-stamp counter as well (Linux, seccomp_assign_mode), which PR_SET_TSC forbids alone.
static bool ends_recording(long option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_TSC;
}

// ---- identity and root ------------------------------------------------------------------------------

static void be_ready(void)
{
	if (pft_process_records())
		pft_flusher_ready();
}

static int follow(int result)
{
	if (result == 0 && pft_process_records())
		pft_flusher_follow_identity();
	return result;
}

// clang-format off
// An int function of these parameters after which the flusher becomes who the caller has become.
#define CHANGES_IDENTITY(name, parameters, arguments) \
	PFT_EXPORT int name parameters \
	{ \
		int (*next) parameters = pft_next(PFT_NEXT_##name); \
\
		be_ready(); \
		return follow(next arguments); \
	}
// clang-format on

CHANGES_IDENTITY(setuid, (uid_t user), (user))
CHANGES_IDENTITY(setgid, (gid_t group), (group))
CHANGES_IDENTITY(seteuid, (uid_t user), (user))
CHANGES_IDENTITY(setegid, (gid_t group), (group))
CHANGES_IDENTITY(setreuid, (uid_t real, uid_t effective), (real, effective))
CHANGES_IDENTITY(setregid, (gid_t real, gid_t effective), (real, effective))
CHANGES_IDENTITY(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
CHANGES_IDENTITY(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
CHANGES_IDENTITY(setgroups, (size_t count, const gid_t *groups), (count, groups))
CHANGES_IDENTITY(initgroups, (const char *user, gid_t group), (user, group))

PFT_EXPORT int capset(void *header, const void *data)
{
	int (*next)(void *, const void *) = pft_next(PFT_NEXT_capset);
	int result;

	be_ready();
	result = next(header, data);
	if (result == 0 && pft_process_records())
		pft_flusher_follow_capabilities(header, data);
	return result;
}

PFT_EXPORT int chroot(const char *path)
{
	int (*next)(const char *) = pft_next(PFT_NEXT_chroot);

	be_ready();
	return next(path);
}

// ---- namespaces -------------------------------------------------------------------------------------

PFT_EXPORT int unshare(int flags)
{
	int (*next)(int) = pft_next(PFT_NEXT_unshare);
	bool was_here = go_away();
	int result = next(flags);

	come_back(was_here);
	return result;
}

PFT_EXPORT int setns(int fd, int type)
{
	int (*next)(int, int) = pft_next(PFT_NEXT_setns);
	bool was_here = go_away();
	int result = next(fd, type);

	come_back(was_here);
	return result;
}

// ---- system calls -----------------------------------------------------------------------------------

PFT_EXPORT int prctl(int option, ...)
{
	int (*next)(int, ...) = pft_next(PFT_NEXT_prctl);
	unsigned long a, b, c, d;
	va_list list;

	va_start(list, option);
	a = va_arg(list, unsigned long);
	b = va_arg(list, unsigned long);
	c = va_arg(list, unsigned long);
	d = va_arg(list, unsigned long);
	va_end(list);
	if (ends_recording(option))
		end_for_filter();
	return next(option, a, b, c, d);
}

typedef long system_call(long number, long a, long b, long c, long d, long e, long f);

static long call_alone(long number, long a, long b, long c, long d, long e, long f)
{
	system_call *next = pft_next(PFT_NEXT_syscall);
	bool was_here = go_away();
	long result = next(number, a, b, c, d, e, f);

	come_back(was_here);
	return result;
}

static long call_and_follow(long number, long a, long b, long c, long d, long e, long f)
{
	system_call *next = pft_next(PFT_NEXT_syscall);

	be_ready();
	return follow((int)next(number, a, b, c, d, e, f));
}

static long call_capset(long number, long header, long data, long c, long d, long e, long f)
{
	(void)number, (void)c, (void)d, (void)e, (void)f;
	return capset((void *)header, (const void *)data);
}

// The same calls by number: libseccomp and libcap make theirs so. Where syscall() shall go on, with all of
// its arguments: called by syscall_x86_64.S, which is gone from the stack by then, since some calls return
// twice.
void *pft_syscall_way(long number, long first);

void *pft_syscall_way(long number, long first)
{
	switch (number) {
	case SYS_unshare:
	case SYS_setns:
		return (void *)call_alone;
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
		return (void *)call_and_follow;
	case SYS_capset:
		return (void *)call_capset;
	case SYS_chroot:
	case SYS_pivot_root:
		be_ready();
		break;
	case SYS_seccomp:
		end_for_filter();
		break;
	case SYS_prctl:
		if (ends_recording(first))
			end_for_filter();
		break;
	case SYS_exit_group:
		end_recording();
		break;
	}
	return pft_next(PFT_NEXT_syscall);
}
