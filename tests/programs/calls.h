// SPDX-License-Identifier: MIT
// The functions of libcalls: what the tests select with PFT_FUNCS.
#ifndef PFT_TESTS_CALLS_H
#define PFT_TESTS_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

void leaf(void);
// Each calls the next one through the library's own PLT; outer(x) is x + 3.
int outer(int x);
int middle(int x);
int inner(int x);
// Call back, and do something after it, so that their frames are there meanwhile.
int through(int (*callback)(void *), void *context);
int through_again(int (*callback)(void *), void *context);
int through_third(int (*callback)(void *), void *context);
// The sum of 1..n, a frame a level, by turns: a compiler unrolls what calls itself.
long recurse(long n);
long recurse_further(long n);

#ifdef __cplusplus
}
#endif

#endif
