// SPDX-License-Identifier: MIT
// Where a trace, its link and its session lie, and opening them. Called by recover.c and job.c. An ordinary
// program's context. Names are those of shim/place.h and shim/store.h.
#ifndef PFT_RECOVER_PATHS_H
#define PFT_RECOVER_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define PFT_TRACE_ENDING ".pftrace"
#define PFT_JSON_ENDING ".json"
#define PFT_LINK_ENDING ".session"

bool pft_path_ends(const char *path, const char *ending);

// The last part of a path.
const char *pft_path_name(const char *path);

// `path` with another ending. False when it does not end so, or does not fit.
bool pft_path_swap(char *swapped, size_t size, const char *path, const char *ending, const char *other);

// As swap, with a segment's number in front of the other ending.
bool pft_path_segment(
	char *swapped, size_t size, const char *path, const char *ending, uint32_t number, const char *other);

// The link beside a trace, or beside the first segment of one. False when the trace's name does not end so,
// or there is no room.
bool pft_path_link(char *link, size_t size, const char *trace);

// What the link leads to; the link itself where it is the session's file. NULL when there is none.
const char *pft_path_session(char *buffer, size_t size, const char *link);

// Opens a regular file that no symbolic link leads to. A descriptor, or -1 and errno.
int pft_path_open(const char *path, int flags, struct stat *found);

bool pft_path_is_same(const struct stat *one, const struct stat *other);

#endif
