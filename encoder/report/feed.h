// SPDX-License-Identifier: MIT
// From a finished trace to a report: what the reader says goes into a summary. Called by the program
// pft-report. Any single thread. The trace is an input that nobody vouches for.
#ifndef PFT_FEED_H
#define PFT_FEED_H

#include <stdint.h>

#include "encoder/report/report.h"

struct pft_feed {
	const char *wrong; // what is wrong with the trace, as a phrase, or NULL
	struct pft_report report; // not prepared yet; its summary is NULL when there was no event
};

// Reads the trace open at `fd`. What is found is given back by pft_feed_release. -ENOMEM when memory ran out.
int pft_feed_read(struct pft_feed *feed, int fd);
void pft_feed_release(struct pft_feed *feed);

#endif
