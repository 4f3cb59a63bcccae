// SPDX-License-Identifier: MIT
// Code that is run one instruction at a time, with a walk of the stack by every unwinder before each.
//
// What a walk must find is known for certain: the stepper sees each call and each return happen, and keeps
// the return address, the stack pointer and the registers to be given back of every call that is open.
#ifndef PFT_TESTS_STEPPING_H
#define PFT_TESTS_STEPPING_H

// Once, before everything else. The number of unwinders.
int stepping_open(void);

// The calling thread goes by single steps from here on; `root` is an exported function among its callers.
void step_begin(void (*root)(void));
void step_end(void);

// How many walks found something else than what was there, of all so far. The first ones are told on stdout.
long stepping_failures(void);

// Appends "object offset visits" for every instruction that was walked from to the run's side file `name`.
void stepping_tell_visits(const char *name);

#endif
