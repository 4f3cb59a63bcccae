// SPDX-License-Identifier: MIT
// An archive of traces of one or several machines, with a manifest that tells viewers which trace is of which
// machine. They line up by the wall clocks of the machines. Called by merge.c. Traces go in as they are. The
// rule: the same traces in the same order make the same bytes.
#ifndef PFT_MERGE_HOSTS_H
#define PFT_MERGE_HOSTS_H

#include <stdint.h>

#include "encoder/merge/member.h"
#include "encoder/merge/sink.h"
#include "encoder/merge/tar.h"

// What goes into the archive.
struct pft_packed {
	const struct pft_member *member;
	uint64_t size; // how much of its file
	const char *machine; // what the manifest calls its machine; NULL: none is known
	char name[PFT_TAR_NAME_MAX + 1]; // in the archive
};

// Fills in machines and names. Of one machine that was started again, each life is a machine.
void pft_hosts_name(struct pft_packed *files, uint32_t count);

void pft_hosts_manifest(struct pft_sink *sink, const struct pft_packed *files, uint32_t count);

// Adds a file, open at `fd` at its beginning. -errno, or 0; -EIO when it became shorter.
int pft_hosts_add(struct pft_sink *sink, const struct pft_packed *file, int fd);

#endif
