// SPDX-License-Identifier: MIT
// Runs a program that the kernel refuses some calls: refused NUMBERS PROGRAM [ARGUMENTS]. NUMBERS by comma
// are those of the calls; it executes the program past the library then, which is not to know. "all" are any
// but those that a small program needs, and each kills.
//
// build: -lcalls -D_GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define CODE_MAX 100

static struct sock_filter code[CODE_MAX];
static unsigned short length;

static void add(struct sock_filter instruction)
{
	MUST(length < CODE_MAX);
	code[length++] = instruction;
}

static void answer(int number, unsigned action)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

// What the loader and stdio need.
static void allow_least(void)
{
	static const int needed[] = {SYS_execve, SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_openat,
		SYS_read, SYS_pread64, SYS_write, SYS_close, SYS_access, SYS_newfstatat, SYS_fstat, SYS_lseek,
		SYS_arch_prctl, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq, SYS_prlimit64,
		SYS_getrandom, SYS_exit_group, SYS_ioctl, SYS_statfs, SYS_readlink, SYS_fadvise64};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		answer(needed[i], SECCOMP_RET_ALLOW);
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
}

static void refuse(char *numbers)
{
	for (char *number = strtok(numbers, ","); number; number = strtok(NULL, ","))
		answer(atoi(number), SECCOMP_RET_ERRNO | EPERM);
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

// Not by libc, where the shim would know of it.
static void execute(char **arguments)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_execve), "D"(arguments[0]), "S"(arguments), "d"(environ)
			 : "rcx", "r11", "memory");
	MUST(result == 0);
}

int main(int argc, char **argv)
{
	bool all = argc > 2 && strcmp(argv[1], "all") == 0;
	struct sock_fprog program = {.filter = code};

	MUST(argc > 2);
	leaf();
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	if (all)
		allow_least();
	else
		refuse(argv[1]);
	program.len = length;
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	if (all)
		execv(argv[2], argv + 2);
	else
		execute(argv + 2);
	return 1;
}
