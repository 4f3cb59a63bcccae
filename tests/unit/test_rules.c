// SPDX-License-Identifier: MIT
// Unit tests of shim/hot/rules.c: what is kept of code that was asked about. Run by Criterion.
#include "shim/hot/rules.h"

#include <criterion/criterion.h>

static struct pft_rule through(struct pft_rule rule)
{
	uint64_t word;

	cr_assert(pft_rule_pack(rule, &word));
	return pft_rule_unpack(word);
}

Test(rules, are_words_that_say_all)
{
	static const struct pft_rule rules[] = {
		{PFT_RULE_SP, 8, 0, 1},
		{PFT_RULE_BP, 16, -16, 65535},
		{PFT_RULE_SP, (1 << 23) - 8, -(1 << 23), 7},
		{PFT_RULE_ALIGNED, 8, 0, 3},
		{PFT_RULE_END, 0, 0, 4095},
	};

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct pft_rule found = through(rules[i]);

		cr_assert_eq(found.kind, rules[i].kind);
		cr_assert_eq(found.cfa, rules[i].cfa, "%zu: %ld", i, (long)found.cfa);
		cr_assert_eq(found.bp, rules[i].bp, "%zu: %ld", i, (long)found.bp);
		cr_assert_eq(found.mapping, rules[i].mapping);
	}
}

Test(rules, do_not_fit_where_they_say_too_much)
{
	uint64_t word;

	cr_assert_not(pft_rule_pack((struct pft_rule){PFT_RULE_SP, 12, 0, 1}, &word));
	cr_assert_not(pft_rule_pack((struct pft_rule){PFT_RULE_SP, 16, -12, 1}, &word));
	cr_assert_not(pft_rule_pack((struct pft_rule){PFT_RULE_SP, 1 << 23, 0, 1}, &word));
	cr_assert_not(pft_rule_pack((struct pft_rule){PFT_RULE_SP, -8, 0, 1}, &word));
	cr_assert_not(pft_rule_pack((struct pft_rule){PFT_RULE_SP, 8, 1 << 27, 1}, &word));
}

Test(rules, are_found_by_address)
{
	for (uintptr_t i = 1; i < 10000; i++)
		pft_rules_keep(0x7f0000000000 + i * 5, i);
	for (uintptr_t i = 1; i < 10000; i++)
		cr_assert_eq(pft_rules_find(0x7f0000000000 + i * 5), i);
	cr_assert_eq(pft_rules_find(0x7f0000000000 + 6), 0);
}

Test(rules, are_forgotten_with_the_code)
{
	pft_rules_keep(0x1000, 5);
	pft_rules_forget();
	cr_assert_eq(pft_rules_find(0x1000), 0);
	pft_rules_keep(0x1000, 6);
	cr_assert_eq(pft_rules_find(0x1000), 6);
}

// As often as it takes for an age to come round.
Test(rules, do_not_come_back_from_an_age_before)
{
	pft_rules_keep(0x1000, 5);
	for (uint32_t i = 0; i < 1u << 18; i++) {
		pft_rules_forget();
		cr_assert_eq(pft_rules_find(0x1000), 0);
	}
}

Test(rules, begin_anew_when_there_are_too_many)
{
	for (uintptr_t i = 1; i < 200000; i++) {
		pft_rules_keep(i * 3, i);
		cr_assert_eq(pft_rules_find(i * 3), i);
	}
}
