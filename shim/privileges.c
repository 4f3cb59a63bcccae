// SPDX-License-Identifier: MIT
// What a process gives up, interposed. Identity and root directory: the flusher must have opened its file
// before. Namespaces: the kernel refuses some to a process of two threads (unshare(2), setns(2)), so the
// flusher goes and comes back. System calls (seccomp): recording ends. App context, and a child of vfork,
// which records nothing of its own and is let through.
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/export.h"
#include "shim/flusher.h"
#include "shim/next.h"
#include "shim/process.h"

static void be_ready(void)
{
	if (pft_process_records())
		pft_flusher_ready();
}

static bool go_away(void)
{
	return pft_process_records() && pft_flusher_stop();
}

static void come_back(bool was_here)
{
	if (was_here)
		pft_flusher_start();
}

// Behind a filter the kernel may kill for any system call of ours, and in strict mode for reading the
// time-stamp counter as well (Linux, seccomp_assign_mode).
static void end_before_seccomp(void)
{
	if (pft_process_records())
		pft_process_end();
}

// ---- identity and root ------------------------------------------------------------------------------

// An int function of these parameters that the flusher must be ready before.
#define GIVES_UP(name, parameters, arguments)                                                                \
	PFT_EXPORT int name parameters                                                                       \
	{                                                                                                    \
		int(*next) parameters = pft_next(PFT_NEXT_##name);                                           \
                                                                                                             \
		be_ready();                                                                                  \
		return next arguments;                                                                       \
	}

GIVES_UP(setuid, (uid_t user), (user))
GIVES_UP(setgid, (gid_t group), (group))
GIVES_UP(seteuid, (uid_t user), (user))
GIVES_UP(setegid, (gid_t group), (group))
GIVES_UP(setreuid, (uid_t real, uid_t effective), (real, effective))
GIVES_UP(setregid, (gid_t real, gid_t effective), (real, effective))
GIVES_UP(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
GIVES_UP(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
GIVES_UP(setgroups, (size_t count, const gid_t *groups), (count, groups))
GIVES_UP(initgroups, (const char *user, gid_t group), (user, group))
GIVES_UP(capset, (void *header, const void *data), (header, data))
GIVES_UP(chroot, (const char *path), (path))

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
	if (option == PR_SET_SECCOMP)
		end_before_seccomp();
	return next(option, a, b, c, d);
}

static long call(long (*next)(long, ...), long number, const long *a)
{
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long call_alone(long (*next)(long, ...), long number, const long *a)
{
	bool was_here = go_away();
	long result = call(next, number, a);

	come_back(was_here);
	return result;
}

// The same calls by number: libseccomp and libcap make theirs so.
PFT_EXPORT long syscall(long number, ...)
{
	long (*next)(long, ...) = pft_next(PFT_NEXT_syscall);
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	switch (number) {
	case SYS_unshare:
	case SYS_setns:
		return call_alone(next, number, a);
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
	case SYS_capset:
	case SYS_chroot:
	case SYS_pivot_root:
		be_ready();
		break;
	case SYS_seccomp:
		end_before_seccomp();
		break;
	case SYS_prctl:
		if (a[0] == PR_SET_SECCOMP)
			end_before_seccomp();
		break;
	case SYS_exit_group:
		if (pft_process_records())
			pft_process_end();
		break;
	}
	return call(next, number, a);
}
