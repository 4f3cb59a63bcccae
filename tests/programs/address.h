// SPDX-License-Identifier: MIT
// The functions of libaddress: it calls leaf (of libcalls), and takes its address.
#ifndef PFT_TESTS_ADDRESS_H
#define PFT_TESTS_ADDRESS_H

typedef void function(void);

void call_leaf(long times);
function *address_of_leaf(void);
void call_pointer(function *pointer, long times);

#endif
