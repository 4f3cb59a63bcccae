// SPDX-License-Identifier: MIT
// pft-diff [options] BEFORE AFTER, or BEFORE... -- AFTER...: what became slower or faster between two runs,
// or between several runs of each of two kinds. Called by `pft diff`. A program of its own on top of the
// reader and the reports. The exit status says whether something is slower.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/diff/compare.h"
#include "encoder/diff/write.h"
#include "encoder/fail.h"
#include "encoder/inputs.h"
#include "encoder/merge/member.h"
#include "encoder/options.h"
#include "encoder/report/feed.h"
#include "encoder/terminal/colour.h"
#include "encoder/terminal/progress.h"

#define SLOWER 1
#define ROWS_DEFAULT 20

static struct pft_limits limits = {.threshold = 0.05, .min_ns = 1000000, .noise = 0.05};
static uint32_t rows = ROWS_DEFAULT;
static bool as_json;

// ---- options ----------------------------------------------------------------------------------------

static double share_named(const char *option, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (*text < '0' || *text > '9' || strcmp(end, "%") != 0 || percent > 1000)
		pft_fail(PFT_REFUSED, "--%s=%s: is not a share from 0%% to 1000%%", option, text);
	return percent / 100;
}

static uint64_t time_named(const char *option, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (*text >= '0' && *text <= '9' && strcmp(end, units[i].name) == 0 && number <= 1e6)
			return (uint64_t)(number * units[i].ns);
	pft_fail(PFT_REFUSED, "--%s=%s: is not a time like 500us, 1ms or 2s", option, text);
}

static void set_format(const char *name)
{
	as_json = strcmp(name, "json") == 0;
	if (!as_json && strcmp(name, "text") != 0)
		pft_fail(PFT_REFUSED, "--format=%s: is not text or json", name);
}

// Sets what options say; the other arguments come to stand behind them, from the answer on. May be called
// again for other arguments.
static int read_options(int count, char **arguments)
{
	static const struct option options[] = {{"threshold", required_argument, NULL, 't'},
		{"min", required_argument, NULL, 'm'}, {"noise", required_argument, NULL, 'N'},
		{"format", required_argument, NULL, 'f'}, {"rows", required_argument, NULL, 'n'},
		{NULL, 0, NULL, 0}};
	int option;

	opterr = 0;
	optind = 0;
	while ((option = getopt_long(count, arguments, "n:", options, NULL)) >= 0) {
		if (option == 't')
			limits.threshold = share_named("threshold", optarg);
		else if (option == 'm')
			limits.min_ns = time_named("min", optarg);
		else if (option == 'N')
			limits.noise = share_named("noise", optarg);
		else if (option == 'f')
			set_format(optarg);
		else if (option == 'n')
			rows = pft_rows_named(optarg);
		else
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft diff -h",
				arguments[optind - 1]);
	}
	return optind;
}

// ---- traces -----------------------------------------------------------------------------------------

static int open_trace(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	return fd;
}

// Versions differ in what recording costs, and in what they record.
static void check_version(const char *path, int fd)
{
	static struct pft_member first;
	struct pft_member member = {.path = path};
	const char *wrong = pft_member_look(&member, fd);

	if (wrong != NULL)
		pft_fail(PFT_REFUSED, "%s: %s", path, wrong);
	if (member.version != NULL && first.version != NULL && strcmp(member.version, first.version) != 0)
		pft_fail(PFT_REFUSED,
			"%s: was recorded by version %s of pftshim, %s by %s; their times do not compare",
			path, member.version, first.path, first.version);
	if (first.version == NULL)
		first = member;
	else
		pft_member_free(&member);
}

static void add_trace(struct pft_side *side, const char *path)
{
	int fd = open_trace(path);
	struct pft_feed feed;

	check_version(path, fd);
	if (lseek(fd, 0, SEEK_SET) < 0)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	pft_progress_start_file("reading", path, fd);
	if (pft_feed_read(&feed, fd) < 0)
		pft_fail(PFT_REFUSED, "out of memory");
	pft_progress_end();
	close(fd);
	if (feed.wrong != NULL)
		pft_fail(PFT_REFUSED, "%s: %s", path, feed.wrong);
	if (feed.report.summary != NULL)
		pft_side_add(side, &feed.report);
	pft_feed_release(&feed);
	if (side->failed)
		pft_fail(PFT_REFUSED, "out of memory");
}

static bool add_beside(void *side, const char *path, const struct stat *found)
{
	(void)found;
	add_trace(side, path);
	return true;
}

static void add_run(struct pft_side *side, const char *path)
{
	uint32_t before = side->processes;

	pft_side_begin_run(side);
	if (pft_inputs_is_directory(path))
		pft_inputs_of(path, add_beside, side);
	else
		add_trace(side, path);
	if (side->processes == before)
		pft_fail(PFT_REFUSED, "%s: holds no event", path);
}

static void read_side(struct pft_side *side, char **paths, int count)
{
	pft_side_open(side, (uint32_t)count);
	for (int i = 0; i < count; i++)
		add_run(side, paths[i]);
}

// ---- all of it --------------------------------------------------------------------------------------

struct inputs {
	char **before, **after;
	int before_count, after_count;
};

static struct inputs read_arguments(int count, char **arguments)
{
	struct inputs inputs;
	int border = 1, behind;

	while (border < count && strcmp(arguments[border], "--") != 0)
		border++;
	behind = read_options(border, arguments);
	inputs = (struct inputs){.before = arguments + behind, .before_count = border - behind};
	if (border < count) {
		// What an option parser takes for the program's name is the border itself.
		behind = border + read_options(count - border, arguments + border);
		inputs.after = arguments + behind;
		inputs.after_count = count - behind;
	} else if (inputs.before_count == 2) {
		inputs.before_count = inputs.after_count = 1;
		inputs.after = inputs.before + 1;
	}
	if (inputs.before_count == 0 || inputs.after_count == 0)
		pft_fail(PFT_REFUSED, "%s; see pft diff -h",
			border < count ? "-- needs runs on both sides of it" : "two runs are compared");
	return inputs;
}

int main(int count, char **arguments)
{
	static struct pft_side before, after;
	const struct inputs inputs = read_arguments(count, arguments);
	struct pft_comparison comparison;
	const struct pft_diff diff = {
		.before = &before, .after = &after, .comparison = &comparison, .limits = &limits};

	read_side(&before, inputs.before, inputs.before_count);
	read_side(&after, inputs.after, inputs.after_count);
	if (pft_compare(&comparison, &before, &after, &limits) < 0)
		pft_fail(PFT_REFUSED, "out of memory");
	if (as_json)
		pft_diff_json(stdout, &diff);
	else
		pft_diff_text(stdout, &diff, rows, pft_colour_wanted(STDOUT_FILENO));
	if (fflush(stdout) != 0 || ferror(stdout))
		pft_fail(PFT_REFUSED, "standard output: cannot be written: %s", strerror(errno));
	return comparison.slower ? SLOWER : 0;
}
