// SPDX-License-Identifier: MIT
// A recording as the library makes one, but without hooks: a place in a directory of its own, a session in
// shared memory, and the flusher's thread. Called by unit tests, once in a process.
#ifndef PFT_TESTS_RECORDING_H
#define PFT_TESTS_RECORDING_H

#include <pthread.h>
#include <stdint.h>

#include "encoder/trace.h"
#include "shim/place.h"
#include "shim/settings.h"

// What is recorded with, to be changed before the start.
extern struct pft_settings recording_settings;
extern struct pft_place recording_place;

// The segment of the trace that is read; the first unless a test says so.
extern uint32_t recording_segment;

// The directory that everything is made in, and that recording_clean removes; before a fork, for the parent.
void recording_directory(void);

// The place and the session, before anything records.
void recording_make(void);

// Makes them if need be. The calling thread sits down; the flusher starts with the first event.
void recording_start(void);

// A thread that sits down, runs `start` and gets up.
pthread_t recording_thread(void *(*start)(void *), void *argument);

uint32_t recording_hook(const char *symbol);

// A call of that hook begins and ends, as on the trampoline's slow path.
void recording_call(uint32_t hook);
void recording_calls(uint32_t hook, unsigned count);

// The end of recording. The answer of the flusher.
int recording_finish(struct pft_totals *totals);

// How many slices of that name the trace file holds now.
unsigned recording_slices(const char *name);

// What else is in the file now: how many ends, and names of threads.
unsigned recording_ends(void);
unsigned recording_threads(const char *name);

// Waits until there are so many slices. False when they do not come within ten seconds.
int recording_await(const char *name, unsigned slices);

void recording_clean(void);

#endif
