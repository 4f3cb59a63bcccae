// SPDX-License-Identifier: MIT
// pft-clean [--older-than=AGE] [--keep=N] [--yes] EXECUTIONS [ID]...: removes executions: those that are
// named, or those that are older and not among the N that were written last. Called by `pft clean`. A program
// of its own on top of encoder/executions/. The rule: nothing goes that was not shown before, and to nobody
// who was not asked or said yes in advance.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/executions/lines.h"
#include "encoder/executions/removal.h"
#include "encoder/executions/shown.h"
#include "encoder/fail.h"
#include "encoder/report/units.h"
#include "encoder/terminal/colour.h"

struct wish {
	bool by_age, by_count; // else by name
	uint64_t age_s, keep;
	char **ids;
	int ids_count;
};

// ---- options ----------------------------------------------------------------------------------------

static uint64_t number_of(const char *option, const char *text, const char **rest, const char *accepted)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || number > UINT32_MAX)
		pft_fail(PFT_REFUSED, "%s=%s: is not %s", option, text, accepted);
	*rest = end;
	return number;
}

static uint64_t age_named(const char *text)
{
	static const char accepted[] = "a number with s, m, h, d or w";
	static const char units[] = "smhdw";
	static const uint64_t seconds[] = {1, 60, 3600, 86400, 7 * 86400};
	const char *rest, *unit;
	uint64_t number = number_of("--older-than", text, &rest, accepted);

	unit = *rest ? strchr(units, *rest) : NULL;
	if (!unit || rest[1])
		pft_fail(PFT_REFUSED, "--older-than=%s: is not %s", text, accepted);
	return number * seconds[unit - units];
}

static uint64_t keep_named(const char *text)
{
	const char *rest;
	uint64_t number = number_of("--keep", text, &rest, "a number");

	if (*rest)
		pft_fail(PFT_REFUSED, "--keep=%s: is not a number", text);
	return number;
}

// ---- what goes --------------------------------------------------------------------------------------

static bool is_named(const struct wish *wish, const char *id)
{
	for (int i = 0; i < wish->ids_count; i++)
		if (strcmp(wish->ids[i], id) == 0)
			return true;
	return false;
}

// `place`: so many were written later.
static bool is_wanted(const struct wish *wish, const struct pft_listed *execution, uint32_t place)
{
	if (!wish->by_age && !wish->by_count)
		return is_named(wish, execution->id);
	return (!wish->by_age || pft_listed_age_s(execution) >= wish->age_s) &&
	       (!wish->by_count || place >= wish->keep);
}

// Says why, when the execution stays. Then it is not open.
static bool open_removable(
	const struct pft_executions *executions, const char *id, struct pft_execution *execution)
{
	char room[512];
	const char *why = pft_execution_open(execution, executions->fd, id);

	if (!why) {
		why = pft_removal_refusal(execution, room, sizeof room);
		if (!why)
			return true;
		pft_execution_close(execution);
	}
	fprintf(stderr, "pft: %s/%s: stays: %s\n", executions->path, id, why);
	return false;
}

static bool is_removable(const struct pft_executions *executions, const char *id)
{
	struct pft_execution execution;

	if (!open_removable(executions, id, &execution))
		return false;
	pft_execution_close(&execution);
	return true;
}

// `latest` stands for what it leads to.
static void check_names(const struct pft_executions *executions, const struct wish *wish)
{
	for (int i = 0; i < wish->ids_count; i++) {
		struct pft_execution execution;
		const char *wrong;

		if (strcmp(wish->ids[i], PFT_LATEST) == 0 &&
			!(wish->ids[i] = pft_executions_latest(executions)))
			pft_fail(PFT_REFUSED, "%s/" PFT_LATEST ": no such execution", executions->path);
		wrong = pft_execution_open(&execution, executions->fd, wish->ids[i]);
		if (wrong)
			pft_fail(PFT_REFUSED, "%s/%s: %s", executions->path, wish->ids[i], wrong);
		pft_execution_close(&execution);
	}
}

// Leaves in the list what is to go; how many of those that are wanted stay.
static uint32_t choose(
	const struct pft_executions *executions, const struct wish *wish, struct pft_list *list)
{
	uint32_t count = list->count, stay = 0;

	list->count = 0;
	for (uint32_t place = 0; place < count; place++) {
		struct pft_listed execution = list->executions[place];
		bool wanted = is_wanted(wish, &execution, place);

		if (wanted && is_removable(executions, execution.id)) {
			list->executions[list->count++] = execution;
			continue;
		}
		stay += wanted;
		pft_listed_free(&execution);
	}
	return stay;
}

// ---- asking and doing -------------------------------------------------------------------------------

static void print_sum(const char *before, uint32_t count, uint64_t bytes, const char *behind)
{
	struct pft_text line = pft_line_begin();

	pft_text_add(&line, before);
	pft_text_add_count(&line, count);
	pft_text_add(&line, count == 1 ? " execution, " : " executions, ");
	pft_text_add_size(&line, bytes);
	pft_text_add(&line, behind);
	pft_line_write(&line);
	fflush(stdout);
}

static bool says_yes(void)
{
	char answer[16] = "";

	if (!fgets(answer, sizeof answer, stdin))
		putchar('\n');
	return answer[0] == 'y' || answer[0] == 'Y';
}

static void show(const struct pft_list *list, uint64_t *bytes)
{
	uint32_t killed = 0;

	pft_list_print(list);
	for (uint32_t i = 0; i < list->count; i++) {
		*bytes += list->executions[i].bytes;
		killed += list->executions[i].killed;
	}
	if (killed != 0)
		puts("what killed processes left in memory goes as well; pft recover would complete their "
		     "traces");
}

static bool may_remove(uint32_t count, uint64_t bytes)
{
	if (!isatty(STDIN_FILENO)) {
		print_sum("", count, bytes, "\n");
		pft_fail(
			PFT_REFUSED, "nothing was removed: nobody is there to be asked; --yes removes these");
	}
	print_sum("remove ", count, bytes, "? [y/N] ");
	return says_yes();
}

// It is looked at once more: it may have changed while the question was open.
static bool remove_one(const struct pft_executions *executions, const char *id)
{
	struct pft_execution execution;
	int error;

	if (!open_removable(executions, id, &execution))
		return false;
	error = pft_removal_remove(executions, &execution);
	pft_execution_close(&execution);
	if (error < 0)
		fprintf(stderr, "pft: %s/%s: %s\n", executions->path, id, strerror(-error));
	return error == 0;
}

// Whether all of them are gone.
static bool remove_all(const struct pft_executions *executions, const struct pft_list *list)
{
	uint64_t bytes = 0;
	uint32_t count = 0;
	int error;

	for (uint32_t i = 0; i < list->count; i++)
		if (remove_one(executions, list->executions[i].id)) {
			bytes += list->executions[i].bytes;
			count++;
		}
	print_sum("removed ", count, bytes, "\n");
	error = pft_removal_repair_latest(executions);
	if (error < 0)
		fprintf(stderr, "pft: %s/" PFT_LATEST ": %s\n", executions->path, strerror(-error));
	return count == list->count && error == 0;
}

static int clean(const struct pft_executions *executions, const struct wish *wish, bool yes)
{
	struct pft_list list;
	uint64_t bytes = 0;
	uint32_t stay;
	int status;

	check_names(executions, wish);
	list = pft_executions_list(executions);
	stay = choose(executions, wish, &list);
	status = stay != 0 && wish->ids_count != 0 ? PFT_FAILED : 0;
	if (list.count == 0) {
		puts("nothing is to be removed");
	} else {
		show(&list, &bytes);
		if (!yes && !may_remove(list.count, bytes))
			puts("nothing was removed");
		else if (!remove_all(executions, &list))
			status = PFT_FAILED;
	}
	pft_list_free(&list);
	return status;
}

int main(int count, char **arguments)
{
	static const struct option options[] = {{"older-than", required_argument, NULL, 'o'},
		{"keep", required_argument, NULL, 'k'}, {"yes", no_argument, NULL, 'y'}, {NULL, 0, NULL, 0}};
	struct pft_executions executions;
	struct wish wish = {0};
	const char *wrong;
	bool yes = false;
	int option, status;

	opterr = 0;
	while ((option = getopt_long(count, arguments, "", options, NULL)) >= 0) {
		if (option == 'o')
			wish.age_s = age_named(optarg);
		else if (option == 'k')
			wish.keep = keep_named(optarg);
		else if (option != 'y')
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft clean -h",
				arguments[optind - 1]);
		wish.by_age |= option == 'o';
		wish.by_count |= option == 'k';
		yes |= option == 'y';
	}
	wish.ids = arguments + optind + 1;
	wish.ids_count = count - optind - 1;
	if (wish.ids_count < 0 || (wish.ids_count == 0) == !(wish.by_age || wish.by_count))
		pft_fail(PFT_REFUSED,
			"either --older-than and --keep or executions say what goes; see pft clean -h");
	pft_lines_in_colour(pft_colour_wanted(STDOUT_FILENO));
	wrong = pft_executions_open(&executions, arguments[optind]);
	if (wrong)
		pft_fail(PFT_REFUSED, "%s: %s", arguments[optind], wrong);
	status = clean(&executions, &wish, yes);
	pft_executions_close(&executions);
	return status;
}
