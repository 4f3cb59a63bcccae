// SPDX-License-Identifier: MIT
// The rules of hot/. Always the last include. Context: hot — an application thread in any state: inside a
// signal handler, inside malloc with its lock held, inside the loader, in a child that was just forked.
//
//  1. Nothing here allocates, locks, touches errno, or calls out of hot/ (but pft_forked, set aside).
//     The C library may be half ready, or be the very function that is being recorded.
//  2. A signal handler may run between any two instructions and record, return, or leave by siglongjmp.
//     What must change together changes in one instruction: the `head` of a thread (self.h).
//  3. No vector or x87 register is touched (-mgeneral-regs-only): the caller's and callee's values live
//  there.
//  4. Stacks may be small: 4 KiB signal stacks are common. No buffers on the stack.
//  5. System calls are raw, and only on the slow path: attaching a thread, waiting, waking.
#ifndef PFT_HOT_H
#define PFT_HOT_H

#pragma GCC poison malloc calloc realloc free mmap munmap mprotect madvise
#pragma GCC poison errno printf fprintf snprintf vsnprintf write read open close syscall
#pragma GCC poison memcpy memmove memset memcmp strlen strcmp strcpy getenv setenv dlsym dlopen
#pragma GCC poison pthread_self pthread_mutex_lock pthread_getspecific clock_gettime sched_yield abort

#endif
