// SPDX-License-Identifier: MIT
// pft-ls [--format=FORMAT] EXECUTIONS [ID]: what was recorded: all executions below a directory, or the
// processes of one. Called by `pft ls`. A program of its own on top of encoder/executions/. The rule: nothing
// is changed.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/executions/lines.h"
#include "encoder/executions/shown.h"
#include "encoder/fail.h"
#include "encoder/json_text.h"
#include "encoder/read/memory.h"
#include "encoder/report/units.h"
#include "encoder/terminal/colour.h"

static struct pft_arg number_arg(const char *name, uint64_t number)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_UNSIGNED, .number = number};
}

static struct pft_arg text_arg(const char *name, const char *text)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_TEXT, .text = text};
}

// ---- executions -------------------------------------------------------------------------------------

static void print_executions_json(const struct pft_executions *executions, const struct pft_list *list)
{
	struct pft_text line = pft_line_begin();

	pft_text_add(&line, "{\"directory\":");
	pft_json_add_string(&line, executions->path);
	pft_text_add(&line, ",\"executions\":[");
	pft_line_print(&line);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct pft_listed *execution = &list->executions[i];
		const struct pft_arg args[] = {text_arg("execution", execution->id),
			text_arg("program", execution->program),
			number_arg("processes", execution->processes),
			number_arg("running", execution->running), number_arg("killed", execution->killed),
			number_arg("bytes", execution->bytes),
			number_arg("age_s", pft_listed_age_s(execution)),
			number_arg("written_s", (uint64_t)execution->written_s)};

		line = pft_line_begin();
		pft_text_add(&line, i == 0 ? " {" : ",{");
		pft_json_add_args(&line, args, sizeof args / sizeof args[0]);
		pft_text_add(&line, "}");
		pft_line_print(&line);
	}
	puts("]}");
}

static void list_executions(const struct pft_executions *executions, bool json)
{
	struct pft_list list = pft_executions_list(executions);

	if (list.count == 0)
		pft_fail(PFT_REFUSED, "%s: no execution was recorded there", executions->path);
	if (json)
		print_executions_json(executions, &list);
	else
		pft_list_print(&list);
	pft_list_free(&list);
}

// ---- processes of one -------------------------------------------------------------------------------

struct row {
	const struct pft_process *process;
	struct pft_glance glance;
};

static int compare(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	if (a->glance.start_ns != b->glance.start_ns)
		return a->glance.start_ns < b->glance.start_ns ? -1 : 1;
	return strcmp(a->process->name, b->process->name);
}

// In the order in which they began.
static struct row *rows_of(const struct pft_execution *execution)
{
	struct row *rows = pft_read_alloc(execution->processes_count * sizeof *rows);

	for (uint32_t i = 0; i < execution->processes_count; i++) {
		rows[i].process = &execution->processes[i];
		pft_process_glance(execution, rows[i].process, PFT_GLANCE_BEGINNING, &rows[i].glance);
		if (rows[i].process->life == PFT_LIFE_ENDED)
			pft_process_glance(execution, rows[i].process, PFT_GLANCE_END, &rows[i].glance);
	}
	qsort(rows, execution->processes_count, sizeof *rows, compare);
	return rows;
}

static const char *life_name(enum pft_life life)
{
	static const char *const names[] = {
		[PFT_LIFE_ENDED] = "ended", [PFT_LIFE_RUNS] = "running", [PFT_LIFE_KILLED] = "killed"};

	return names[life];
}

#define PID_COLUMN 9
#define SIZE_COLUMN 11
#define NUMBER_COLUMN 13

static void print_process(const struct row *row)
{
	const struct pft_glance *glance = &row->glance;
	bool lives_on = row->process->life != PFT_LIFE_ENDED;
	struct pft_text line = pft_line_begin();

	if (glance->pid != 0)
		pft_line_add_cell(&line, pft_text_add_number, glance->pid, PID_COLUMN);
	else
		pft_line_add_word(&line, "-", PID_COLUMN);
	if (glance->ended) {
		pft_line_add_cell(&line, pft_text_add_duration, glance->duration_ns, NUMBER_COLUMN);
		pft_line_add_cell(&line, pft_text_add_count, glance->events, NUMBER_COLUMN);
		pft_line_add_cell(&line, pft_text_add_count, glance->dropped, NUMBER_COLUMN);
	} else {
		pft_line_add_word(&line, lives_on ? life_name(row->process->life) : "-", NUMBER_COLUMN);
		pft_line_add_word(&line, "-", NUMBER_COLUMN);
		pft_line_add_word(&line, "-", NUMBER_COLUMN);
	}
	pft_line_add_cell(&line, pft_text_add_size, row->process->bytes, SIZE_COLUMN);
	pft_text_add(&line, "  ");
	pft_line_add_name(&line, row->process->name, 0);
	pft_line_print(&line);
}

static void print_processes(const char *path, const struct pft_execution *execution, const struct row *rows)
{
	struct pft_text line = pft_line_begin();

	pft_line_add_name(&line, path, 0);
	pft_line_print(&line);
	line = pft_line_begin();
	pft_line_mark(&line, PFT_COLOUR_HEADING);
	pft_line_add_word(&line, "pid", PID_COLUMN);
	pft_line_add_word(&line, "lasted", NUMBER_COLUMN);
	pft_line_add_word(&line, "events", NUMBER_COLUMN);
	pft_line_add_word(&line, "lost", NUMBER_COLUMN);
	pft_line_add_word(&line, "size", SIZE_COLUMN);
	pft_text_add(&line, "  process");
	pft_line_mark(&line, PFT_COLOUR_END);
	pft_line_print(&line);
	for (uint32_t i = 0; i < execution->processes_count; i++)
		print_process(&rows[i]);
	if (pft_execution_count(execution, PFT_LIFE_KILLED) != 0)
		puts("pft recover completes the traces of those that were killed");
}

static void print_process_json(bool first, const struct row *row)
{
	const struct pft_process *process = row->process;
	const struct pft_glance *glance = &row->glance;
	struct pft_arg args[9];
	struct pft_text line = pft_line_begin();
	size_t count = 0;

	args[count++] = text_arg("process", process->name);
	args[count++] = text_arg("state", life_name(process->life));
	args[count++] = number_arg("bytes", process->bytes);
	if (glance->process[0] != '\0')
		args[count++] = text_arg("program", glance->process);
	if (glance->pid != 0)
		args[count++] = number_arg("pid", glance->pid);
	if (glance->start_ns != 0)
		args[count++] = number_arg("start_ns", glance->start_ns);
	if (glance->ended) {
		args[count++] = number_arg("duration_ns", glance->duration_ns);
		args[count++] = number_arg("events", glance->events);
		args[count++] = number_arg("dropped", glance->dropped);
	}
	pft_text_add(&line, first ? " {" : ",{");
	pft_json_add_args(&line, args, count);
	pft_text_add(&line, ",\"files\":[");
	pft_line_write(&line);
	for (uint32_t i = 0; i < process->files_count; i++) {
		line = pft_line_begin();
		pft_text_add(&line, i == 0 ? "" : ",");
		pft_json_add_string(&line, process->files[i].name);
		pft_line_write(&line);
	}
	puts("]}");
}

static void print_processes_json(
	const char *path, const struct pft_execution *execution, const struct row *rows)
{
	struct pft_text line = pft_line_begin();

	pft_text_add(&line, "{\"execution\":");
	pft_json_add_string(&line, execution->id);
	pft_text_add(&line, ",\"directory\":");
	pft_json_add_string(&line, path);
	pft_text_add(&line, ",\"processes\":[");
	pft_line_print(&line);
	for (uint32_t i = 0; i < execution->processes_count; i++)
		print_process_json(i == 0, &rows[i]);
	puts("]}");
}

static void list_processes(const struct pft_executions *executions, const char *id, bool json)
{
	struct pft_execution execution;
	const char *wrong = pft_execution_open(&execution, executions->fd, id);
	struct row *rows;
	char *path;

	if (wrong)
		pft_fail(PFT_REFUSED, "%s/%s: %s", executions->path, id, wrong);
	if (execution.processes_count == 0)
		pft_fail(PFT_REFUSED, "%s/%s: holds no trace", executions->path, id);
	path = pft_read_alloc(strlen(executions->path) + strlen(id) + sizeof "/");
	sprintf(path, "%s/%s", executions->path, id);
	rows = rows_of(&execution);
	(json ? print_processes_json : print_processes)(path, &execution, rows);
	free(rows);
	free(path);
	pft_execution_close(&execution);
}

// ---- all of it --------------------------------------------------------------------------------------

static bool is_json(const char *format)
{
	if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
		pft_fail(PFT_REFUSED, "--format=%s: is not text or json", format);
	return strcmp(format, "json") == 0;
}

// The last part of the path, without links in it; `parent` is the rest.
static const char *take_apart(const char *path, const char **parent)
{
	char *real = realpath(path, NULL);
	char *slash;

	if (!real)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	slash = strrchr(real, '/');
	*slash = '\0';
	*parent = slash == real ? "/" : real;
	return slash + 1;
}

int main(int count, char **arguments)
{
	static const struct option options[] = {{"format", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
	struct pft_executions executions;
	const char *wrong, *path, *id;
	bool json = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(count, arguments, "", options, NULL)) >= 0) {
		if (option != 'f')
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft ls -h",
				arguments[optind - 1]);
		json = is_json(optarg);
	}
	if (optind == count || count - optind > 2)
		pft_fail(PFT_REFUSED, "one execution at a time; see pft ls -h");
	path = arguments[optind];
	id = arguments[optind + 1]; // or NULL, which ends the list
	if (id && strchr(id, '/'))
		id = take_apart(id, &path);
	pft_lines_in_colour(pft_colour_wanted(STDOUT_FILENO));
	wrong = pft_executions_open(&executions, path);
	if (wrong)
		pft_fail(PFT_REFUSED, "%s: %s", path, wrong);
	if (id && strcmp(id, PFT_LATEST) == 0 && !(id = pft_executions_latest(&executions)))
		pft_fail(PFT_REFUSED, "%s/" PFT_LATEST ": no such execution", path);
	if (id)
		list_processes(&executions, id, json);
	else
		list_executions(&executions, json);
	pft_executions_close(&executions);
	if (fflush(stdout) != 0)
		pft_fail(PFT_FAILED, "standard output: %s", strerror(errno));
	return 0;
}
