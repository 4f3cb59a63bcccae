// SPDX-License-Identifier: MIT
// What other processes ask of this one, by words in the session (session.h): no signal, no socket, no thread
// but the flusher. Flusher context. The file's mode is what decides who may ask.
#ifndef PFT_CONTROL_H
#define PFT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct pft_replay;

struct pft_asked {
	uint32_t request; // 0: nothing
	uint32_t command; // whatever was stored there: not always an enum pft_command
};

// Whether the flusher will look at requests from now on.
void pft_control_attend(bool attends);

bool pft_control_is_asked(void);
struct pft_asked pft_control_asked(void);

// The request is carried out, with `result` 0 or -errno: says so, and how things stand.
void pft_control_answer(const struct pft_asked *asked, const struct pft_replay *replay, int result);

#endif
