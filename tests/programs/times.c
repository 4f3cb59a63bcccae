// SPDX-License-Identifier: MIT
// Begin and end of a slice are when the call began and ended, on CLOCK_BOOTTIME.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define CALLS 3000

static uint64_t before_ns[CALLS], inside_ns[CALLS], after_ns[CALLS];

static int note_time(void *context)
{
	*(uint64_t *)context = now_ns();
	return 0;
}

int main(void)
{
	FILE *side;

	through(note_time, &inside_ns[0]);
	for (int i = 0; i < CALLS; i++) {
		before_ns[i] = now_ns();
		through(note_time, &inside_ns[i]);
		after_ns[i] = now_ns();
		if (i % 10 == 0)
			usleep(1000);
	}
	side = side_open("times");
	for (int i = 0; i < CALLS; i++)
		fprintf(side, "%lu %lu %lu\n", before_ns[i], inside_ns[i], after_ns[i]);
	fclose(side);
	return 0;
}
