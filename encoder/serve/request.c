// SPDX-License-Identifier: MIT
// Requests and answers: see request.h.
#include "encoder/serve/request.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/base/text.h"

// ---- requests ---------------------------------------------------------------------------------------

static bool is_word(const char *bytes, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(bytes, word, size) == 0;
}

static enum pft_request method_of(const char *bytes, size_t size)
{
	if (is_word(bytes, size, "GET"))
		return PFT_REQUEST_GET;
	if (is_word(bytes, size, "HEAD"))
		return PFT_REQUEST_HEAD;
	return is_word(bytes, size, "OPTIONS") ? PFT_REQUEST_OPTIONS : PFT_REQUEST_REFUSED;
}

// METHOD SP PATH SP HTTP/1.x
static enum pft_request of_line(const char *line, size_t size, const char *path)
{
	const char *target = memchr(line, ' ', size), *version;
	size_t rest;

	if (!target)
		return PFT_REQUEST_MALFORMED;
	rest = size - (size_t)(target + 1 - line);
	version = memchr(target + 1, ' ', rest);
	if (!version || size - (size_t)(version + 1 - line) != sizeof "HTTP/1.1" - 1 ||
		memcmp(version + 1, "HTTP/1.", sizeof "HTTP/1." - 1) != 0)
		return PFT_REQUEST_MALFORMED;
	if (!is_word(target + 1, (size_t)(version - target - 1), path))
		return PFT_REQUEST_UNKNOWN;
	return method_of(line, (size_t)(target - line));
}

enum pft_request pft_request_of(const char *bytes, size_t size, const char *path)
{
	const char *line_end = memmem(bytes, size, "\r\n", 2);

	if (memmem(bytes, size, "\r\n\r\n", 4))
		return of_line(bytes, (size_t)(line_end - bytes), path);
	return size < PFT_REQUEST_MAX ? PFT_REQUEST_PARTIAL : PFT_REQUEST_MALFORMED;
}

// ---- answers ----------------------------------------------------------------------------------------

static const char *status_of(enum pft_request request)
{
	switch (request) {
	case PFT_REQUEST_GET:
	case PFT_REQUEST_HEAD:
		return "200 OK";
	case PFT_REQUEST_OPTIONS:
		return "204 No Content";
	case PFT_REQUEST_UNKNOWN:
		return "404 Not Found";
	case PFT_REQUEST_REFUSED:
		return "405 Method Not Allowed";
	default:
		return "400 Bad Request";
	}
}

// Browsers up to 2025 ask by a preflight request whether a page of the internet may reach this machine; later
// ones ask the user, and need no header.
static void add_permission(struct pft_text *text, enum pft_request request, const char *origin)
{
	pft_text_add(text, "Access-Control-Allow-Origin: ");
	pft_text_add(text, origin);
	pft_text_add(text, "\r\nVary: Origin\r\n");
	if (request == PFT_REQUEST_OPTIONS)
		pft_text_add(text, "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
				   "Access-Control-Allow-Headers: *\r\n"
				   "Access-Control-Allow-Private-Network: true\r\n");
}

void pft_request_add_answer(
	struct pft_text *text, enum pft_request request, const char *origin, uint64_t size)
{
	bool has_file = request == PFT_REQUEST_GET || request == PFT_REQUEST_HEAD;

	pft_text_add(text, "HTTP/1.1 ");
	pft_text_add(text, status_of(request));
	pft_text_add(text, "\r\nConnection: close\r\nCache-Control: no-store\r\n"
			   "X-Content-Type-Options: nosniff\r\n");
	if (has_file || request == PFT_REQUEST_OPTIONS)
		add_permission(text, request, origin);
	if (request == PFT_REQUEST_REFUSED)
		pft_text_add(text, "Allow: GET, HEAD, OPTIONS\r\n");
	if (request != PFT_REQUEST_OPTIONS) {
		pft_text_add(text, "Content-Type: application/octet-stream\r\nContent-Length: ");
		pft_text_add_number(text, has_file ? size : 0);
		pft_text_add(text, "\r\n");
	}
	pft_text_add(text, "\r\n");
}
