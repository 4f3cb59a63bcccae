// SPDX-License-Identifier: MIT
// Raw system calls, and nothing else. Any context, hot included: no errno, no cancellation point, no
// libc symbol that the host program could have replaced or that we could have hooked.
// Every call returns what the kernel returns: >= 0, or -errno.
// Calling convention: x86-64 psABI appendix A.2.1 (rcx and r11 are lost, at most six arguments).
#ifndef PFT_BASE_SYS_X86_64_H
#define PFT_BASE_SYS_X86_64_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

struct iovec;
struct stat;
struct timespec;

static inline long pft_sys6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define pft_sys0(n) pft_sys6(n, 0, 0, 0, 0, 0, 0)
#define pft_sys1(n, a) pft_sys6(n, (long)(a), 0, 0, 0, 0, 0)
#define pft_sys2(n, a, b) pft_sys6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define pft_sys3(n, a, b, c) pft_sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define pft_sys4(n, a, b, c, d) pft_sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline void *pft_sys_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)pft_sys6(SYS_mmap, (long)at, (long)size, protection, flags, fd, offset);
}

// The kernel answers errors as the last 4095 addresses.
static inline int pft_sys_failed(const void *address)
{
	return (uintptr_t)address > (uintptr_t)-4096;
}

static inline long pft_sys_munmap(void *at, size_t size)
{
	return pft_sys2(SYS_munmap, at, size);
}

static inline long pft_sys_mprotect(void *at, size_t size, int protection)
{
	return pft_sys3(SYS_mprotect, at, size, protection);
}

static inline long pft_sys_madvise(void *at, size_t size, int advice)
{
	return pft_sys3(SYS_madvise, at, size, advice);
}

static inline long pft_sys_openat(int directory, const char *path, int flags, int mode)
{
	return pft_sys4(SYS_openat, directory, path, flags, mode);
}

static inline long pft_sys_close(int fd)
{
	return pft_sys1(SYS_close, fd);
}

static inline long pft_sys_read(int fd, void *buffer, size_t size)
{
	return pft_sys3(SYS_read, fd, buffer, size);
}

static inline long pft_sys_write(int fd, const void *bytes, size_t size)
{
	return pft_sys3(SYS_write, fd, bytes, size);
}

static inline long pft_sys_futex(
	uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return pft_sys4(SYS_futex, word, operation, value, timeout);
}

static inline long pft_sys_clock_gettime(int clock, struct timespec *now)
{
	return pft_sys2(SYS_clock_gettime, clock, now);
}

static inline int pft_sys_getpid(void)
{
	return (int)pft_sys0(SYS_getpid);
}

static inline int pft_sys_gettid(void)
{
	return (int)pft_sys0(SYS_gettid);
}

static inline long pft_sys_fstat(int fd, struct stat *found)
{
	return pft_sys2(SYS_fstat, fd, found);
}

static inline long pft_sys_fstatat(int directory, const char *path, struct stat *found, int flags)
{
	return pft_sys4(SYS_newfstatat, directory, path, found, flags);
}

static inline long pft_sys_mkdirat(int directory, const char *path, int mode)
{
	return pft_sys3(SYS_mkdirat, directory, path, mode);
}

static inline long pft_sys_symlinkat(const char *target, int directory, const char *path)
{
	return pft_sys3(SYS_symlinkat, target, directory, path);
}

static inline long pft_sys_renameat(int old_directory, const char *old_path, int directory, const char *path)
{
	return pft_sys4(SYS_renameat, old_directory, old_path, directory, path);
}

static inline long pft_sys_unlinkat(int directory, const char *path, int flags)
{
	return pft_sys3(SYS_unlinkat, directory, path, flags);
}

// The length with its NUL, not the buffer.
static inline long pft_sys_getcwd(char *buffer, size_t size)
{
	return pft_sys2(SYS_getcwd, buffer, size);
}

static inline long pft_sys_getrandom(void *buffer, size_t size, unsigned flags)
{
	return pft_sys3(SYS_getrandom, buffer, size, flags);
}

static inline uid_t pft_sys_geteuid(void)
{
	return (uid_t)pft_sys0(SYS_geteuid);
}

static inline long pft_sys_sigprocmask(int how, const uint64_t *set, uint64_t *old)
{
	return pft_sys4(SYS_rt_sigprocmask, how, set, old, sizeof(*set));
}

static inline long pft_sys_sigpending(uint64_t *set)
{
	return pft_sys2(SYS_rt_sigpending, set, sizeof(*set));
}

static inline long pft_sys_sigtimedwait(const uint64_t *set, const struct timespec *timeout)
{
	return pft_sys4(SYS_rt_sigtimedwait, set, NULL, timeout, sizeof(*set));
}

#endif
