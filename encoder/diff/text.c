// SPDX-License-Identifier: MIT
// The comparison for people: a pair of lines a function, before and after. See write.h.
#include "encoder/diff/write.h"

#include <math.h>

#include "encoder/report/units.h"
#include "encoder/terminal/colour.h"

#define CELL 64
#define COLUMN 11

typedef void add_function(struct pft_text *text, uint64_t value);

// ---- cells ------------------------------------------------------------------------------------------

static void print_right(FILE *to, const char *cell)
{
	fprintf(to, " %*s", COLUMN, cell);
}

static void print_cell(FILE *to, add_function *add, double value)
{
	char room[CELL];
	struct pft_text text = pft_text_in(room, sizeof room);

	add(&text, (uint64_t)(value + 0.5));
	print_right(to, room);
}

// With its sign.
static const char *difference_of(char room[CELL], double ns)
{
	struct pft_text text = pft_text_in(room, CELL);

	pft_text_add(&text, ns < 0 ? "-" : "+");
	pft_text_add_duration(&text, (uint64_t)(fabs(ns) + 0.5));
	return room;
}

static const char *share_of(char room[CELL], double part, double whole)
{
	struct pft_text text = pft_text_in(room, CELL);

	if (whole <= 0)
		return "";
	pft_text_add(&text, part < 0 ? "-" : "+");
	pft_text_add_share(&text, fabs(part) / whole);
	return room;
}

static void print_name(FILE *to, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, to);
}

// ---- head -------------------------------------------------------------------------------------------

static void print_side(FILE *to, const char *which, const struct pft_side *side)
{
	uint64_t calls = 0;
	char room[CELL];
	struct pft_text text = pft_text_in(room, sizeof room);

	for (uint32_t i = 1; i <= side->functions_used; i++)
		for (uint32_t run = 0; run < side->runs; run++)
			calls += side->functions[i].runs[run].calls;
	pft_text_add_count(&text, calls);
	fprintf(to, "%s: %u run%s, %u process%s, %s call%s of %u function%s\n", which, side->runs,
		side->runs == 1 ? "" : "s", side->processes, side->processes == 1 ? "" : "es", room,
		calls == 1 ? "" : "s", side->functions_used, side->functions_used == 1 ? "" : "s");
}

static const char *colour_of(enum pft_change_kind kind)
{
	switch (kind) {
	case PFT_CHANGE_SLOWER:
		return PFT_COLOUR_ALARM;
	case PFT_CHANGE_FASTER:
		return PFT_COLOUR_GOOD;
	default:
		return PFT_COLOUR_WARNING;
	}
}

static const char *word_of(enum pft_change_kind kind)
{
	static const char *const words[] = {[PFT_CHANGE_NONE] = "no change",
		[PFT_CHANGE_UNSURE] = "chance may explain it",
		[PFT_CHANGE_SLOWER] = "slower",
		[PFT_CHANGE_FASTER] = "faster",
		[PFT_CHANGE_APPEARED] = "appeared",
		[PFT_CHANGE_VANISHED] = "vanished"};

	return words[kind];
}

static void print_run(FILE *to, const struct pft_diff *diff)
{
	const struct pft_change *run = &diff->comparison->run;
	bool judged = diff->before->runs >= PFT_COMPARE_RUNS_MIN && diff->after->runs >= PFT_COMPARE_RUNS_MIN;
	char room[CELL];
	struct pft_text text = pft_text_in(room, sizeof room);

	pft_text_add_duration(&text, (uint64_t)run->before.self_ns);
	pft_text_add(&text, " -> ");
	pft_text_add_duration(&text, (uint64_t)run->after.self_ns);
	fprintf(to, "a run: %s", room);
	fprintf(to, ", %s: %s\n", share_of(room, run->difference_ns, run->before.self_ns),
		judged ? word_of(run->kind) : "not judged with fewer than three runs a side");
}

// That is no function of the program, but it makes runs longer.
static void print_recorder(FILE *to, const struct pft_diff *diff)
{
	char room[CELL];
	struct pft_text text = pft_text_in(room, sizeof room);

	if (diff->before->recorder_ns == 0 && diff->after->recorder_ns == 0)
		return;
	pft_text_add_duration(&text, diff->before->recorder_ns / diff->before->runs);
	pft_text_add(&text, " -> ");
	pft_text_add_duration(&text, diff->after->recorder_ns / diff->after->runs);
	fprintf(to, "its threads waited for the recorder: %s; a larger --buffer helps\n", room);
}

// ---- functions --------------------------------------------------------------------------------------

static void print_heading(FILE *to, bool colour)
{
	static const char *const words[] = {"change", "", "calls", "own time", "total", "median", "p99"};

	fputs(colour ? "\n" PFT_COLOUR_HEADING : "\n", to);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		print_right(to, words[i]);
	fputs(colour ? "  function" PFT_COLOUR_END "\n" : "  function\n", to);
}

static void print_times(FILE *to, const char *change, const char *which, const struct pft_change_side *side)
{
	print_right(to, change);
	print_right(to, which);
	print_cell(to, pft_text_add_count, side->calls);
	print_cell(to, pft_text_add_duration, side->self_ns);
	print_cell(to, pft_text_add_duration, side->total_ns);
	print_cell(to, pft_text_add_duration, (double)side->p50_ns);
	print_cell(to, pft_text_add_duration, (double)side->p99_ns);
}

static void print_change(FILE *to, const struct pft_change *change, bool colour)
{
	char room[CELL];

	print_times(to, difference_of(room, change->difference_ns), "before", &change->before);
	fputs("  ", to);
	print_name(to, change->name);
	fputs("\n", to);
	print_times(to, share_of(room, change->difference_ns, change->base_ns), "after", &change->after);
	fprintf(to, "  %s%s%s\n", colour ? colour_of(change->kind) : "", word_of(change->kind),
		colour ? PFT_COLOUR_END : "");
}

static void print_changes(FILE *to, const struct pft_comparison *comparison, uint32_t rows, bool colour)
{
	uint32_t printed = 0, left = 0;

	for (uint32_t i = 0; i < comparison->count; i++) {
		if (comparison->changes[i].kind <= PFT_CHANGE_UNSURE)
			continue;
		if (printed == rows) {
			left++;
			continue;
		}
		if (printed++ == 0)
			print_heading(to, colour);
		print_change(to, &comparison->changes[i], colour);
	}
	if (left)
		fprintf(to, "%*s and %u more; -n %u shows all\n", COLUMN, "", left, printed + left);
}

static void print_sum(FILE *to, const struct pft_diff *diff)
{
	const uint32_t *kinds = diff->comparison->kinds;
	char share[CELL], least[CELL];
	struct pft_text share_text = pft_text_in(share, sizeof share);
	struct pft_text least_text = pft_text_in(least, sizeof least);

	pft_text_add_share(&share_text, diff->limits->threshold);
	pft_text_add_duration(&least_text, diff->limits->min_ns);
	fprintf(to, "\n%u slower, %u faster, %u appeared, %u vanished, by %s and %s or more\n",
		kinds[PFT_CHANGE_SLOWER], kinds[PFT_CHANGE_FASTER], kinds[PFT_CHANGE_APPEARED],
		kinds[PFT_CHANGE_VANISHED], share, least);
	if (kinds[PFT_CHANGE_UNSURE])
		fprintf(to,
			"%u more by as much, which chance or a few slow calls may explain; three runs a side "
			"tell\n",
			kinds[PFT_CHANGE_UNSURE]);
}

void pft_diff_text(FILE *to, const struct pft_diff *diff, uint32_t rows, bool colour)
{
	print_side(to, "before", diff->before);
	print_side(to, "after", diff->after);
	print_run(to, diff);
	print_recorder(to, diff);
	print_changes(to, diff->comparison, rows, colour);
	print_sum(to, diff);
}
