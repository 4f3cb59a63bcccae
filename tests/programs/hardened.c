// SPDX-License-Identifier: MIT
// Runs a program in which memory that could be written is never executed: hardened PROGRAM ARGUMENT...
#include <sys/prctl.h>

#include "tests/programs/common.h"

#ifndef PR_SET_MDWE // Linux 6.3
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int argc, char **argv)
{
	MUST(argc > 1);
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0L, 0L, 0L)) {
		puts("not supported");
		return 0;
	}
	execv(argv[1], argv + 1);
	MUST(!"execv has failed");
	return 1;
}
