// SPDX-License-Identifier: MIT
// Gives up what it may do as servers and their like do, one way or the other: drops WAY. 1000 calls of leaf()
// come before and 1000 after. What the kernel says of the process, and every errno, is printed.
// build: -lcalls -D_GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define SOMEBODY 65534

static void call(void)
{
	for (int i = 0; i < 1000; i++)
		leaf();
}

static void say_status(void)
{
	static const char *const lines[] = {"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd",
		"CapAmb", "NoNewPrivs", "SigBlk", "SigIgn", "SigCgt"};
	char line[256];
	FILE *status = fopen("/proc/thread-self/status", "r");

	if (!status) {
		puts("no descriptor is left");
		return;
	}
	for (size_t i; fgets(line, sizeof(line), status);)
		for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
			if (strncmp(line, lines[i], strlen(lines[i])) == 0 && line[strlen(lines[i])] == ':')
				fputs(line, stdout);
	fclose(status);
	printf("single threaded: %d\n", __libc_single_threaded);
}

static void say(const char *what, long result)
{
	printf("%s: %ld, errno %d\n", what, result, result < 0 ? errno : 0);
}

// ---- system calls -----------------------------------------------------------------------------------

#define ALLOW(number)                                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Any other call kills.
static struct sock_filter least[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_exit_group),
	ALLOW(SYS_prctl),
	ALLOW(SYS_execve),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sock_fprog filter_of(struct sock_filter *code, size_t bytes)
{
	return (struct sock_fprog){(unsigned short)(bytes / sizeof(*code)), code};
}

static void filter(void)
{
	struct sock_fprog program = filter_of(least, sizeof(least));

	say("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	fflush(stdout);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void filter_all_threads(void)
{
	struct sock_fprog program = filter_of(least, sizeof(least));

	say("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	fflush(stdout);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

static void filter_fails(void)
{
	say("filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	say("mode", prctl(PR_SET_SECCOMP, 99));
}

// ---- identity ---------------------------------------------------------------------------------------

static void put_capabilities_down(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0}};

	say("capset", syscall(SYS_capset, &header, none));
}

static void become_somebody(void)
{
	say("groups", setgroups(0, NULL));
	say("group", setresgid(SOMEBODY, SOMEBODY, SOMEBODY));
	say("user", setresuid(SOMEBODY, SOMEBODY, SOMEBODY));
	say("back", setuid(0));
}

static void become_somebody_by_number(void)
{
	say("groups", syscall(SYS_setgroups, 0, NULL));
	say("group", syscall(SYS_setresgid, SOMEBODY, SOMEBODY, SOMEBODY));
	say("user", syscall(SYS_setresuid, SOMEBODY, SOMEBODY, SOMEBODY));
	say("back", syscall(SYS_setuid, 0));
}

static void become_somebody_and_return(void)
{
	for (int i = 0; i < 3; i++) {
		say("group", setegid(SOMEBODY));
		say("user", seteuid(SOMEBODY));
		call();
		say("user", seteuid(0));
		say("group", setegid(0));
		call();
	}
}

static void keep_capabilities(void)
{
	say("keep", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	become_somebody();
	put_capabilities_down();
}

// As sshd and its like: all of it, in a process of its own.
static void lock_up(void)
{
	const struct rlimit none = {0, 0};

	say("chroot", chroot(getenv("TEST_DIRECTORY")));
	say("directory", chdir("/"));
	become_somebody();
	put_capabilities_down();
	say("descriptors", setrlimit(RLIMIT_NOFILE, &none));
	say("processes", setrlimit(RLIMIT_NPROC, &none));
	say("dumpable", prctl(PR_SET_DUMPABLE, 0));
}

static void lock_up_and_filter(void)
{
	lock_up();
	filter();
}

static void *calls(void *unused)
{
	call();
	return unused;
}

static void become_somebody_with_threads(void)
{
	pthread_t thread = thread_start(calls, NULL);

	become_somebody();
	thread_join(thread);
}

// ---- namespaces -------------------------------------------------------------------------------------

static void leave_namespaces(void)
{
	int old = open("/proc/self/ns/uts", O_RDONLY);

	say("mount", unshare(CLONE_NEWNS));
	say("names", unshare(CLONE_NEWUTS));
	call();
	say("again", setns(old, CLONE_NEWUTS));
	call();
	say("nothing", setns(old, CLONE_NEWNET));
	say("by number", syscall(SYS_unshare, CLONE_NEWIPC));
	close(old);
}

static void own_users(void)
{
	say("users", unshare(CLONE_NEWUSER));
	say("all", unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET));
	say("nothing", unshare(-1));
}

// ---- all of it --------------------------------------------------------------------------------------

static const struct {
	const char *name;
	void (*act)(void);
	bool filters;
} ways[] = {
	{"user", become_somebody, false},
	{"user_by_number", become_somebody_by_number, false},
	{"user_and_return", become_somebody_and_return, false},
	{"user_with_threads", become_somebody_with_threads, false},
	{"capabilities", put_capabilities_down, false},
	{"kept_capabilities", keep_capabilities, false},
	{"all", lock_up, false},
	{"all_and_filter", lock_up_and_filter, true},
	{"filter", filter, true},
	{"filter_all_threads", filter_all_threads, true},
	{"filter_fails", filter_fails, false},
	{"namespaces", leave_namespaces, false},
	{"users", own_users, false},
};

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "capabilities";
	static const char done[] = "done\n";
	bool filters = false;

	call();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, way) == 0) {
			filters = ways[i].filters;
			ways[i].act();
		}
	call();
	if (filters) {
		MUST(write(1, done, sizeof(done) - 1) == sizeof(done) - 1);
		_exit(4);
	}
	say_status();
	return 5;
}
