// SPDX-License-Identifier: MIT
// What a file of an execution is, by its name. Called by execution.c. Pure. Names are those of shim/place.h:
//
//   {process}.pftrace    {process}.json    {process}.session
//   {process}.part2.pftrace                a trace that goes on in a second file
//   {process}.report.json                  a report; also .report.txt, .report.trace.json, .report.folded
#ifndef PFT_EXECUTIONS_NAMES_H
#define PFT_EXECUTIONS_NAMES_H

#include <stddef.h>

enum pft_name_kind {
	PFT_NAME_OTHER, // not of pft
	PFT_NAME_TRACE,
	PFT_NAME_JSON,
	PFT_NAME_REPORT,
	PFT_NAME_SESSION,
};

struct pft_name {
	enum pft_name_kind kind;
	size_t process_length; // so much of the name is the process's; 0: nothing
	unsigned part; // of a trace or JSON in several files; the first is 1
};

struct pft_name pft_name_of(const char *name);

#endif
