// SPDX-License-Identifier: MIT
// Adding strings: see texts.h. The rule: a string is there before anything says where.
#include "shim/texts.h"

#include <string.h>

#include "shim/hot/pages.h"

static uint64_t room_in(const struct pft_session *session)
{
	return session->strings_bytes - session->strings_used;
}

bool pft_texts_reserve(struct pft_session *session, uint64_t bytes)
{
	if (bytes > room_in(session))
		bytes = room_in(session);
	return pft_pages_reserve(pft_session_string(session, session->strings_used), bytes);
}

uint32_t pft_texts_add(struct pft_session *session, const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint32_t at = session->strings_used;

	if (bytes > room_in(session))
		return 0;
	memcpy(pft_session_string(session, at), text, bytes);
	session->strings_used += (uint32_t)bytes;
	return at;
}
