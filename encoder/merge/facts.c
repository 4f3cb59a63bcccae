// SPDX-License-Identifier: MIT
// Attributes of all members together: see facts.h.
#include "encoder/merge/facts.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/read/memory.h"

// SUM_OF_PARTS: a segment counts what is in it alone.
enum rule { AGREED, SUM, SUM_OF_PARTS, MEAN };

struct fact {
	enum pft_arg_kind kind;
	char *text;
	uint64_t number;
};

struct pft_fact {
	char *name;
	enum rule rule;
	bool said; // by the present member
	bool differs; // members do not agree
	uint32_t members; // that said it
	struct fact present, joint;
};

static enum rule rule_of(const char *name)
{
	static const struct {
		const char *name;
		enum rule rule;
	} rules[] = {{"produced", SUM}, {"written", SUM}, {"filtered", SUM}, {"dropped", SUM},
		{"stacks_cut", SUM}, {"segments_removed", SUM}, {"events_removed", SUM},
		{"segment_written", SUM_OF_PARTS}, {"probe_inside_ns", MEAN}, {"probe_outside_ns", MEAN}};

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (strcmp(name + strlen(PFT_FACTS_PREFIX), rules[i].name) == 0)
			return rules[i].rule;
	return AGREED;
}

bool pft_facts_are_ours(const struct pft_arg *attribute)
{
	return strncmp(attribute->name, PFT_FACTS_PREFIX, strlen(PFT_FACTS_PREFIX)) == 0;
}

static struct pft_fact *fact_named(struct pft_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->count; i++)
		if (strcmp(facts->list[i].name, name) == 0)
			return &facts->list[i];
	if (facts->count == PFT_FACTS_MAX)
		return NULL;
	if (!facts->list)
		facts->list = pft_read_alloc(PFT_FACTS_MAX * sizeof *facts->list);
	facts->list[facts->count] =
		(struct pft_fact){.name = pft_read_copy(name, strlen(name)), .rule = rule_of(name)};
	return &facts->list[facts->count++];
}

void pft_facts_hear(struct pft_facts *facts, const struct pft_arg *attribute)
{
	struct pft_fact *fact = fact_named(facts, attribute->name);

	facts->begun = true;
	if (!fact)
		return;
	free(fact->present.text);
	fact->said = true;
	fact->present = (struct fact){.kind = attribute->kind, .number = attribute->number};
	if (attribute->kind == PFT_ARG_TEXT)
		fact->present.text = pft_read_copy(attribute->text, strlen(attribute->text));
}

// ---- members ----------------------------------------------------------------------------------------

static bool is_same(const struct fact *one, const struct fact *other)
{
	if (one->kind != other->kind)
		return false;
	return one->kind == PFT_ARG_TEXT ? strcmp(one->text, other->text) == 0 : one->number == other->number;
}

// `counted`: what an earlier segment of the process has counted.
static void take_over(struct pft_fact *fact, uint64_t counted)
{
	if (fact->members++ == 0) {
		fact->joint = fact->present;
		fact->present.text = NULL;
		return;
	}
	if (fact->rule == AGREED)
		fact->differs |= !is_same(&fact->joint, &fact->present);
	else
		fact->joint.number += fact->present.number - (fact->rule == SUM ? counted : 0);
}

// What was counted of a process by each fact; NULL where nothing needs to be known.
static uint64_t *counted_of(struct pft_facts *facts, uint64_t process)
{
	void **place;

	if (!process)
		return NULL;
	place = pft_read_table_at(&facts->processes, process);
	if (!*place)
		*place = pft_read_alloc(PFT_FACTS_MAX * sizeof(uint64_t));
	return *place;
}

void pft_facts_next(struct pft_facts *facts, uint64_t process)
{
	uint64_t *counted = counted_of(facts, process);

	facts->members += facts->begun;
	facts->begun = false;
	for (size_t i = 0; i < facts->count; i++) {
		struct pft_fact *fact = &facts->list[i];

		if (fact->said)
			take_over(fact, counted ? counted[i] : 0);
		if (fact->said && counted)
			counted[i] = fact->present.number;
		free(fact->present.text);
		fact->present = (struct fact){.text = NULL};
		fact->said = false;
	}
}

void pft_facts_tell(const struct pft_facts *facts,
	void (*function)(void *user, const struct pft_arg *attribute), void *user)
{
	for (size_t i = 0; i < facts->count; i++) {
		const struct pft_fact *fact = &facts->list[i];
		struct pft_arg attribute = {.name = fact->name,
			.kind = fact->joint.kind,
			.text = fact->joint.text,
			.number = fact->joint.number};

		if (fact->differs || fact->members != facts->members)
			continue;
		if (fact->rule == MEAN)
			attribute.number /= facts->members;
		function(user, &attribute);
	}
}

void pft_facts_free(struct pft_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free(facts->list[i].name);
		free(facts->list[i].present.text);
		free(facts->list[i].joint.text);
	}
	pft_read_table_clear(&facts->processes, free);
	free(facts->list);
	*facts = (struct pft_facts){.list = NULL};
}
