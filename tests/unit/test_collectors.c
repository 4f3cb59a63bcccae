// SPDX-License-Identifier: MIT
// Unit tests of shim/collectors.c. Run by Criterion. That collectors are found is shown by
// tests/programs/collects.c.
#include "shim/collectors.h"

#include <criterion/criterion.h>

static const struct pft_object ruby = {.name = "libruby-3.1.so.3.1"};
static const struct pft_object libc = {.name = "libc.so.6"};
static const struct pft_object yaml = {.name = "libyaml-0.so.2"};
static const struct pft_collector none = {NULL, false};
static const struct pft_collector own_thread = {&ruby, false};
static const struct pft_collector all_threads = {&ruby, true};

Test(collectors, forbid_nothing_where_there_is_none)
{
	cr_assert_null(pft_collector_forbids(&none, true, &libc, "qsort"));
	cr_assert_null(pft_collector_forbids(&none, true, NULL, "read"));
}

Test(collectors, are_not_called_through_a_frame_record)
{
	cr_assert_not_null(pft_collector_forbids(&own_thread, false, &ruby, "rb_str_new"));
	cr_assert_not_null(pft_collector_forbids(&all_threads, false, &ruby, "rb_str_new"));
}

Test(collectors, leave_those_alone_who_hold_nothing_of_theirs)
{
	cr_assert_null(pft_collector_forbids(&own_thread, false, &yaml, "yaml_parser_load"));
	cr_assert_null(pft_collector_forbids(&all_threads, false, &libc, "qsort"));
}

Test(collectors, let_their_holders_call_what_surely_does_not_call_back)
{
	cr_assert_null(pft_collector_forbids(&own_thread, true, &libc, "read"));
	cr_assert_not_null(pft_collector_forbids(&own_thread, true, &libc, "qsort_r"));
	cr_assert_not_null(pft_collector_forbids(&own_thread, true, &yaml, "yaml_parser_load"));
	cr_assert_not_null(pft_collector_forbids(&own_thread, true, NULL, "read"));
}

Test(collectors, that_look_at_running_threads_let_their_holders_call_nothing)
{
	cr_assert_not_null(pft_collector_forbids(&all_threads, true, &libc, "read"));
}
