// SPDX-License-Identifier: MIT
// Unit tests of encoder/names.c: how hooks are shown. Run by Criterion.
#include "encoder/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/session.h"
#include "tests/unit/fake_session.h"

static struct pft_arena memory, scratch;
static struct pft_names names;

static struct pft_session *start(uint32_t mode)
{
	struct pft_session *session = pft_fake_session(4096, 1);

	session->mode = mode;
	names = (struct pft_names){.session = session, .strings.memory = &memory, .scratch = &scratch};
	return session;
}

static const char *name(uint32_t id)
{
	return pft_strings_text(&names.strings, pft_names_show(&names, id).name);
}

static const char *category(uint32_t id)
{
	return pft_strings_text(&names.strings, pft_names_show(&names, id).category);
}

Test(names, show_the_bare_function_to_users)
{
	uint32_t id = pft_fake_hook(start(1), "libz.so.1", "inflate");

	cr_assert_str_eq(name(id), "inflate");
	cr_assert_null(category(id));
}

Test(names, show_object_and_function_to_developers)
{
	uint32_t id = pft_fake_hook(start(2), "libz.so.1", "inflate");

	cr_assert_str_eq(name(id), "libz.so.1::inflate");
	cr_assert_str_eq(category(id), "libz.so.1");
}

Test(names, are_demangled_without_parameters)
{
	uint32_t id = pft_fake_hook(start(2), "libfoo.so", "_ZN2ns3barEiPKc");

	cr_assert_str_eq(name(id), "libfoo.so::ns::bar");
}

Test(names, show_a_function_whose_object_is_not_known_alone)
{
	uint32_t id = pft_fake_hook(start(2), NULL, "inflate");

	cr_assert_str_eq(name(id), "inflate");
	cr_assert_null(category(id));
}

Test(names, follow_the_session_when_an_object_is_filled_in)
{
	struct pft_session *session = start(2);
	uint32_t id = pft_fake_hook(session, NULL, "inflate");
	uint32_t other = pft_fake_hook(session, "libz.so.1", "deflate");

	cr_assert_str_eq(name(id), "inflate");
	pft_session_hook(session, id)->object = pft_session_hook(session, other)->object;
	cr_assert_str_eq(name(id), "libz.so.1::inflate");
}

Test(names, are_one_number_for_one_text)
{
	struct pft_session *session = start(1);
	uint32_t one = pft_fake_hook(session, "liba.so", "run");
	uint32_t two = pft_fake_hook(session, "libb.so", "run");

	cr_assert_eq(pft_names_show(&names, one).name, pft_names_show(&names, two).name);
}

Test(names, show_the_wait_for_the_flusher_as_the_library_s_own)
{
	start(1);
	cr_assert_str_eq(name(PFT_HOOK_WAIT), "pftshim: ring full");
	cr_assert_str_eq(category(PFT_HOOK_WAIT), "pftshim");
}

Test(names, are_never_empty)
{
	struct pft_session *session = start(1);

	cr_assert_gt(strlen(name(pft_fake_hook(session, "libz.so.1", NULL))), 0);
	cr_assert_gt(strlen(name(65535)), 0);
}

Test(names, are_cut_at_a_character_when_they_are_very_long)
{
	struct pft_session *session = start(1);
	char *symbol = calloc(100002, 1);
	const char *shown;

	symbol[0] = 'a';
	for (size_t i = 1; i < 100001; i += 2)
		memcpy(symbol + i, "\xc3\xa9", 2);
	shown = name(pft_fake_hook(session, NULL, symbol));
	cr_assert_eq(strlen(shown), PFT_NAME_BYTES_MAX - 1);
	cr_assert_eq((unsigned char)shown[strlen(shown) - 1], 0xa9);
	free(symbol);
}

Test(names, keep_their_numbers_while_the_table_grows)
{
	struct pft_session *session = start(1);
	uint32_t first = 0, number = 0;

	for (int i = 0; i < 5000; i++) {
		char symbol[32];
		uint32_t id;

		snprintf(symbol, sizeof symbol, "function_%d", i);
		id = pft_fake_hook(session, NULL, symbol);
		cr_assert_str_eq(name(id), symbol);
		if (!first) {
			first = id;
			number = pft_names_show(&names, id).name;
		}
	}
	cr_assert_str_eq(name(first), "function_0");
	cr_assert_eq(pft_names_show(&names, first).name, number);
}
