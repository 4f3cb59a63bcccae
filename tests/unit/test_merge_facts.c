// SPDX-License-Identifier: MIT
// Unit tests of encoder/merge/facts.c: what a merged trace says of itself. Run by Criterion.
#include "encoder/merge/facts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct pft_facts facts;
static char told[1024];

static void number(const char *name, uint64_t value)
{
	pft_facts_hear(&facts, &(struct pft_arg){.name = name, .kind = PFT_ARG_SIGNED, .number = value});
}

static void text(const char *name, const char *value)
{
	pft_facts_hear(&facts, &(struct pft_arg){.name = name, .kind = PFT_ARG_TEXT, .text = value});
}

static void tell(void *user, const struct pft_arg *attribute)
{
	size_t used = strlen(told);

	(void)user;
	if (attribute->kind == PFT_ARG_TEXT)
		snprintf(told + used, sizeof told - used, "%s=%s\n", attribute->name, attribute->text);
	else
		snprintf(told + used, sizeof told - used, "%s=%llu\n", attribute->name,
			(unsigned long long)attribute->number);
}

static void says(const char *wanted)
{
	told[0] = '\0';
	pft_facts_tell(&facts, tell, NULL);
	pft_facts_free(&facts);
	cr_assert_str_eq(told, wanted);
}

Test(merge_facts, adds_counts_up_and_takes_the_mean_of_costs)
{
	number("pftshim.written", 10);
	number("pftshim.probe_inside_ns", 20);
	pft_facts_next(&facts, 0);
	number("pftshim.written", 5);
	number("pftshim.probe_inside_ns", 31);
	pft_facts_next(&facts, 0);
	says("pftshim.written=15\npftshim.probe_inside_ns=25\n");
}

Test(merge_facts, what_is_said_twice_counts_once)
{
	number("pftshim.written", 1);
	number("pftshim.written", 10);
	pft_facts_next(&facts, 0);
	number("pftshim.written", 5);
	pft_facts_next(&facts, 0);
	says("pftshim.written=15\n");
}

Test(merge_facts, keeps_what_members_agree_on_and_nothing_else)
{
	text("pftshim.mode", "dev");
	text("pftshim.command_line", "a");
	number("pftshim.parent_pid", 1);
	pft_facts_next(&facts, 0);
	text("pftshim.mode", "dev");
	text("pftshim.command_line", "b");
	number("pftshim.parent_pid", 2);
	pft_facts_next(&facts, 0);
	says("pftshim.mode=dev\n");
}

Test(merge_facts, leaves_out_what_a_member_does_not_say)
{
	text("pftshim.mode", "dev");
	number("pftshim.dropped", 0);
	pft_facts_next(&facts, 0);
	text("pftshim.mode", "dev");
	pft_facts_next(&facts, 0);
	says("pftshim.mode=dev\n");
}

Test(merge_facts, does_not_count_members_that_say_nothing)
{
	pft_facts_next(&facts, 0);
	number("pftshim.written", 3);
	pft_facts_next(&facts, 0);
	pft_facts_next(&facts, 0);
	says("pftshim.written=3\n");
}

Test(merge_facts, takes_a_text_and_a_number_for_different)
{
	text("pftshim.mode", "1");
	pft_facts_next(&facts, 0);
	number("pftshim.mode", 1);
	pft_facts_next(&facts, 0);
	says("");
}

Test(merge_facts, holds_no_more_than_so_many)
{
	char name[32];

	for (int i = 0; i < 2 * PFT_FACTS_MAX; i++) {
		snprintf(name, sizeof name, "pftshim.%d", i);
		number(name, 1);
	}
	cr_assert_eq(facts.count, PFT_FACTS_MAX);
	pft_facts_free(&facts);
}

Test(merge_facts, of_segments_the_last_one_counts)
{
	for (uint64_t segment = 1; segment <= 3; segment++) {
		for (uint64_t process = 7; process <= 8; process++) {
			number("pftshim.written", 10 * segment * process);
			number("pftshim.segment_written", 10 * process);
			number("pftshim.segment", segment);
			pft_facts_next(&facts, process);
		}
	}
	number("pftshim.written", 5);
	number("pftshim.segment_written", 5);
	number("pftshim.segment", 1);
	pft_facts_next(&facts, 0);
	says("pftshim.written=455\npftshim.segment_written=455\n");
}

Test(merge_facts, knows_its_own)
{
	cr_assert(pft_facts_are_ours(&(struct pft_arg){.name = "pftshim.mode"}));
	cr_assert_not(pft_facts_are_ours(&(struct pft_arg){.name = "mode"}));
}
