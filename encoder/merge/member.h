// SPDX-License-Identifier: MIT
// A trace that is to be merged, and what its beginning tells of where and when it was recorded. Called by
// merge.c and hosts.c.
#ifndef PFT_MERGE_MEMBER_H
#define PFT_MERGE_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

struct pft_member {
	const char *path; // the caller's
	char *machine; // its name; NULL where the trace does not say
	char *version; // of this project, when it wrote the trace; else NULL
	uint64_t process; // uuid of the track of its process; 0 where there is none
	uint32_t segment; // its number among those of its process; 0: the trace is all in one file
	bool has_boot, has_wall;
	uint64_t boot_ns; // CLOCK_BOOTTIME when it began
	int64_t wall_ns; // what CLOCK_REALTIME was ahead of it then
};

// Reads the beginning of the trace open at `fd`, from its present offset. What is wrong with it, as a phrase,
// or NULL: what comes later may still be wrong.
const char *pft_member_look(struct pft_member *member, int fd);

void pft_member_free(struct pft_member *member);

// Whether both can have been recorded between two starts of one machine, as far as they tell.
bool pft_member_is_of_boot(const struct pft_member *one, const struct pft_member *other);

#endif
