// SPDX-License-Identifier: MIT
// What the kernel says of a process (proc(5)). Startup and flusher context, and hot in a forked child: raw
// system calls.
#ifndef PFT_PROC_H
#define PFT_PROC_H

#include <stddef.h>
#include <stdint.h>

// Opens /proc/{pid}{file}; pid 0: our own. A descriptor of the caller's, or -errno.
int pft_proc_open(uint32_t pid, const char *file);

// As much as fits, and a NUL behind it. How many bytes, without the NUL; 0: none.
size_t pft_proc_read(uint32_t pid, const char *file, char *buffer, size_t size);

// Fields of /proc/{pid}/stat.
enum pft_proc_field {
	PFT_PROC_PARENT = 4,
	PFT_PROC_START = 22, // in ticks of 10 ms after the boot
};

// 0 when that cannot be told.
uint64_t pft_proc_stat(uint32_t pid, enum pft_proc_field field);

// The decimal number that `at` begins with; 0 for NULL and where there is none.
uint64_t pft_proc_number(const char *at);

#endif
