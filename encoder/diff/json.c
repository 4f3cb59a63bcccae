// SPDX-License-Identifier: MIT
// The comparison for programs: times in nanoseconds, means of a run. See write.h.
#include "encoder/diff/write.h"

#include "encoder/json_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kinds[] = {[PFT_CHANGE_NONE] = "none",
	[PFT_CHANGE_UNSURE] = "unsure",
	[PFT_CHANGE_SLOWER] = "slower",
	[PFT_CHANGE_FASTER] = "faster",
	[PFT_CHANGE_APPEARED] = "appeared",
	[PFT_CHANGE_VANISHED] = "vanished"};

static void print_args(FILE *to, const struct pft_arg *args, size_t count)
{
	static char room[PFT_JSON_ARGS_MAX + 1];
	struct pft_text text = pft_text_in(room, sizeof room);

	pft_json_add_args(&text, args, count);
	fputs(room, to);
}

static struct pft_arg whole(const char *name, double value)
{
	return (struct pft_arg){.name = name,
		.kind = PFT_ARG_SIGNED,
		.number = (uint64_t)(int64_t)(value < 0 ? value - 0.5 : value + 0.5)};
}

static struct pft_arg text(const char *name, const char *value)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_TEXT, .text = value};
}

static void print_side(FILE *to, const char *name, const struct pft_side *side)
{
	const struct pft_arg args[] = {whole("runs", side->runs), whole("processes", side->processes),
		whole("waited_for_recorder_ns", (double)side->recorder_ns / side->runs)};

	fprintf(to, "\"%s\":{", name);
	print_args(to, args, COUNT(args));
	fputs("},\n", to);
}

static void print_times(FILE *to, const char *name, const struct pft_change_side *side)
{
	const struct pft_arg args[] = {whole("calls", side->calls), whole("total_ns", side->total_ns),
		whole("self_ns", side->self_ns), whole("typical_self_ns", side->typical_ns),
		whole("p50_ns", (double)side->p50_ns), whole("p99_ns", (double)side->p99_ns)};

	fprintf(to, ",\"%s\":{", name);
	print_args(to, args, COUNT(args));
	fputs("}", to);
}

static void print_function(FILE *to, const struct pft_change *change)
{
	char chance[32];
	const struct pft_arg args[] = {text("name", change->name), text("category", change->category),
		text("change", kinds[change->kind]), whole("difference_ns", change->difference_ns),
		{.name = "chance", .kind = PFT_ARG_NUMBER, .text = chance}};

	snprintf(chance, sizeof chance, "%.3g", change->chance);
	fputs("{", to);
	print_args(to, args, COUNT(args));
	print_times(to, "before", &change->before);
	print_times(to, "after", &change->after);
	fputs("}", to);
}

void pft_diff_json(FILE *to, const struct pft_diff *diff)
{
	const struct pft_comparison *comparison = diff->comparison;
	const struct pft_change *run = &comparison->run;
	const struct pft_arg run_args[] = {text("change", kinds[run->kind]),
		whole("before_ns", run->before.self_ns), whole("after_ns", run->after.self_ns)};

	fprintf(to, "{\"slower\":%s,\"threshold\":%g,\"min_ns\":%llu,\"noise\":%g,\n",
		comparison->slower ? "true" : "false", diff->limits->threshold,
		(unsigned long long)diff->limits->min_ns, diff->limits->noise);
	print_side(to, "before", diff->before);
	print_side(to, "after", diff->after);
	fputs("\"run\":{", to);
	print_args(to, run_args, COUNT(run_args));
	fputs("},\n\"functions\":[", to);
	for (uint32_t i = 0; i < comparison->count; i++) {
		fputs(i ? ",\n" : "\n", to);
		print_function(to, &comparison->changes[i]);
	}
	fputs("\n]}\n", to);
}
