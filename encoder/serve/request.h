// SPDX-License-Identifier: MIT
// What a browser asks for, and the heads of answers (HTTP/1.1, RFC 9112; CORS: fetch.spec.whatwg.org). Called
// by open.c. Pure. The request is an input that nobody vouches for. The rule: one path is known; whoever asks
// for another one learns nothing.
#ifndef PFT_SERVE_REQUEST_H
#define PFT_SERVE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/text.h"

// Longer heads are refused.
#define PFT_REQUEST_MAX 8192

enum pft_request {
	PFT_REQUEST_PARTIAL, // more bytes have to come
	PFT_REQUEST_GET, // the following three are of the path that is known
	PFT_REQUEST_HEAD,
	PFT_REQUEST_OPTIONS, // may a page of the viewer ask?
	PFT_REQUEST_UNKNOWN, // of another path
	PFT_REQUEST_REFUSED, // another method
	PFT_REQUEST_MALFORMED,
};

enum pft_request pft_request_of(const char *bytes, size_t size, const char *path);

// The head of the answer to it. `origin`: whose pages may read the answer; `size`: bytes of the file.
void pft_request_add_answer(
	struct pft_text *text, enum pft_request request, const char *origin, uint64_t size);

#endif
