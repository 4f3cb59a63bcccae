// SPDX-License-Identifier: MIT
// Hands one file out, once, to a browser on this machine. Called by open.c. An ordinary program's context.
// The rule: only the loopback address listens, and a client that says nothing keeps nobody else waiting.
#ifndef PFT_SERVE_SERVER_H
#define PFT_SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct pft_server {
	int listener;
	uint16_t port; // that it listens to
	int file; // the caller's
	const char *path; // under which it is known; the caller's
	const char *origin; // likewise
};

// Listens to `port` of 127.0.0.1; 0: any that is free. 0 or -errno.
int pft_server_open(struct pft_server *server, uint16_t port);

// Answers until the file was fetched as a whole, which is true, or so many seconds have passed.
bool pft_server_run(struct pft_server *server, uint64_t timeout_s);

void pft_server_close(struct pft_server *server);

#endif
