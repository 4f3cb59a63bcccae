// SPDX-License-Identifier: MIT
// What the libraries have in common that the tests open.
#ifndef PFT_TESTS_OPENS_H
#define PFT_TESTS_OPENS_H

#ifdef __cplusplus
extern "C" {
#endif

int work(int x);
int work_through(int (*callback)(void *), void *context); // libopened_plugin only
int twin(int x); // the twins only

#ifdef __cplusplus
}
#endif

#endif
