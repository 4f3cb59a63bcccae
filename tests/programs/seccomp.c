// SPDX-License-Identifier: MIT
// In strict seccomp any system call of ours would kill the program, and a thread of ours would outlive it.
// build: -lcalls
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(int argc, char **argv)
{
	static const char done[] = "locked down\n";

	for (long i = argument(argc, argv, 1, 100); i > 0; i--)
		leaf();
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	for (int i = 0; i < 100000; i++)
		leaf();
	if (write(1, done, sizeof(done) - 1) == sizeof(done) - 1)
		syscall(SYS_exit, 3);
	return 1;
}
