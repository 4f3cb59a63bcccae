// SPDX-License-Identifier: MIT
// Unit tests of encoder/serve/request.c. Run by Criterion.
#include "encoder/serve/request.h"

#include <criterion/criterion.h>
#include <string.h>

#define PATH "/secret/trace"

static enum pft_request of(const char *head)
{
	return pft_request_of(head, strlen(head), PATH);
}

static const char *answer(enum pft_request request)
{
	static char room[1024];
	struct pft_text text = pft_text_in(room, sizeof room);

	pft_request_add_answer(&text, request, "https://viewer", 4711);
	cr_assert(!text.cut);
	return room;
}

Test(request, is_known_by_its_method)
{
	cr_assert_eq(of("GET /secret/trace HTTP/1.1\r\nHost: x\r\n\r\n"), PFT_REQUEST_GET);
	cr_assert_eq(of("GET /secret/trace HTTP/1.0\r\n\r\n"), PFT_REQUEST_GET);
	cr_assert_eq(of("HEAD /secret/trace HTTP/1.1\r\n\r\n"), PFT_REQUEST_HEAD);
	cr_assert_eq(of("OPTIONS /secret/trace HTTP/1.1\r\n\r\n"), PFT_REQUEST_OPTIONS);
	cr_assert_eq(of("POST /secret/trace HTTP/1.1\r\n\r\n"), PFT_REQUEST_REFUSED);
	cr_assert_eq(of("get /secret/trace HTTP/1.1\r\n\r\n"), PFT_REQUEST_REFUSED);
}

Test(request, is_for_the_very_path)
{
	cr_assert_eq(of("GET / HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
	cr_assert_eq(of("GET /secret/trac HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
	cr_assert_eq(of("GET /secret/trace2 HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
	cr_assert_eq(of("GET /secret/trace? HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
	cr_assert_eq(of("GET /secret/../secret/trace HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
	cr_assert_eq(of("OPTIONS * HTTP/1.1\r\n\r\n"), PFT_REQUEST_UNKNOWN);
}

Test(request, is_heard_to_its_end)
{
	static const char head[] = "GET /secret/trace HTTP/1.1\r\nHost: x\r\n\r\n";
	static char endless[PFT_REQUEST_MAX];

	for (size_t size = 0; size < sizeof head - 1; size++)
		cr_assert_eq(pft_request_of(head, size, PATH), PFT_REQUEST_PARTIAL);
	memset(endless, 'x', sizeof endless);
	cr_assert_eq(pft_request_of(endless, sizeof endless - 1, PATH), PFT_REQUEST_PARTIAL);
	cr_assert_eq(pft_request_of(endless, sizeof endless, PATH), PFT_REQUEST_MALFORMED);
}

Test(request, is_refused_when_it_is_none)
{
	cr_assert_eq(of("\r\n\r\n"), PFT_REQUEST_MALFORMED);
	cr_assert_eq(of("GET\r\n\r\n"), PFT_REQUEST_MALFORMED);
	cr_assert_eq(of("GET /secret/trace\r\n\r\n"), PFT_REQUEST_MALFORMED);
	cr_assert_eq(of("GET /secret/trace HTTP/2.0\r\n\r\n"), PFT_REQUEST_MALFORMED);
	cr_assert_eq(of("GET /secret/trace HTTP/1.1 x\r\n\r\n"), PFT_REQUEST_MALFORMED);
	cr_assert_eq(of("\x16\x03\x01 tls \r\n\r\n"), PFT_REQUEST_MALFORMED);
}

Test(request, is_answered_with_the_size_and_to_the_viewer_alone)
{
	cr_assert_eq(strncmp(answer(PFT_REQUEST_GET), "HTTP/1.1 200 OK\r\n", 17), 0);
	cr_assert_not_null(strstr(answer(PFT_REQUEST_GET), "\r\nContent-Length: 4711\r\n"));
	cr_assert_not_null(
		strstr(answer(PFT_REQUEST_GET), "\r\nAccess-Control-Allow-Origin: https://viewer\r\n"));
	cr_assert_str_eq(strstr(answer(PFT_REQUEST_GET), "\r\n\r\n"), "\r\n\r\n");
	cr_assert_not_null(
		strstr(answer(PFT_REQUEST_OPTIONS), "\r\nAccess-Control-Allow-Private-Network: true\r\n"));
	cr_assert_null(strstr(answer(PFT_REQUEST_OPTIONS), "Content-Length"));
	cr_assert_not_null(strstr(answer(PFT_REQUEST_UNKNOWN), "404"));
	cr_assert_not_null(strstr(answer(PFT_REQUEST_UNKNOWN), "Content-Length: 0"));
	cr_assert_null(strstr(answer(PFT_REQUEST_UNKNOWN), "Access-Control"));
	cr_assert_not_null(strstr(answer(PFT_REQUEST_REFUSED), "405"));
	cr_assert_not_null(strstr(answer(PFT_REQUEST_MALFORMED), "400"));
}
