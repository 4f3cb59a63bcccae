// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/*.c: one small run, whose reports are compared word for word. Run by
// Criterion.
#include "encoder/report/report.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/reader.h"

#define MS UINT64_C(1000000)
#define ORIGIN (UINT64_C(5000) * MS)

static struct pft_arena memory;
static struct pft_summary *summary;
static struct pft_bottlenecks bottlenecks;
static struct pft_report report;
static struct pft_out out;
static int fd;

static void begin(struct pft_summary_stack *stack, uint64_t ns, const char *name)
{
	pft_summary_begin(summary, stack, ORIGIN + ns, pft_summary_function(summary, name, "libc.so.6"));
}

static void end(struct pft_summary_stack *stack, uint64_t ns)
{
	pft_summary_end(summary, stack, ORIGIN + ns, false);
}

// main waits a while for its worker, which reads; both were recorded at 100 ns a call.
static void run(void)
{
	struct pft_summary_thread *main = pft_summary_thread(summary, 7, ORIGIN);
	struct pft_summary_thread *worker = pft_summary_thread(summary, 8, ORIGIN);
	struct pft_summary_stack *on_main = pft_summary_stack(summary, main);
	struct pft_summary_stack *on_worker = pft_summary_stack(summary, worker);

	pft_summary_thread_name(summary, main, "main");
	pft_summary_thread_name(summary, worker, "worker");
	begin(on_main, 0, "run");
	begin(on_main, 10 * MS, "pthread_join");
	begin(on_worker, 0, "fetch;all");
	begin(on_worker, 10 * MS, "read");
	end(on_worker, 50 * MS);
	begin(on_worker, 50 * MS, "tick");
	end(on_worker, 50 * MS + 110);
	end(on_worker, 60 * MS);
	pft_summary_thread_end(summary, worker, ORIGIN + 60 * MS);
	end(on_main, 60 * MS);
	end(on_main, 100 * MS);
}

static void set_up(void)
{
	summary = pft_summary_open();
	run();
	report = (struct pft_report){.process = "pro\"gram",
		.command_line = "pro\"gram -x",
		.pid = 7,
		.totals = {.produced = 12, .written = 8, .filtered = 3, .dropped = 1},
		.usage = {.peak_rss_bytes = 5 << 20, .minor_faults = 321, .major_faults = 2},
		.probe = {.inside_ns = 60, .outside_ns = 40},
		.summary = summary};
	cr_assert_eq(pft_report_prepare(&report, PFT_REPORT_BY_SELF, &bottlenecks), 0);
	fd = pft_reader_file();
	cr_assert_eq(pft_out_open(&out, fd, &memory), 0);
}

static void tear_down(void)
{
	pft_summary_close(summary);
	pft_arena_free(&memory);
}

TestSuite(report, .init = set_up, .fini = tear_down);

static const char *written(void)
{
	static char *bytes;
	struct stat found;

	cr_assert_eq(pft_out_flush(&out), 0);
	cr_assert_eq(fstat(fd, &found), 0);
	bytes = realloc(bytes, (size_t)found.st_size + 1);
	cr_assert_eq(pread(fd, bytes, (size_t)found.st_size, 0), found.st_size);
	bytes[found.st_size] = '\0';
	return bytes;
}

static void assert_has(const char *text, const char *words)
{
	cr_assert_not_null(strstr(text, words), "%s: is not in\n%s", words, text);
}

Test(report, lists_functions_by_their_own_time)
{
	const char *const names[] = {"pthread_join", "run", "read", "fetch;all", "tick"};

	cr_assert_eq(report.functions, 5);
	for (uint32_t i = 0; i < report.functions; i++)
		cr_assert_str_eq(pft_report_name(&report, report.order[i]), names[i]);
}

Test(report, takes_the_cost_of_recording_off)
{
	const struct pft_summary_function *run = &summary->functions[report.order[1]];
	const struct pft_summary_function *tick = &summary->functions[report.order[4]];

	// its own call between its clock readings, and one inner call around them
	cr_assert_eq(pft_report_self_ns(&report, run), 50 * MS - 60 - 40);
	cr_assert_eq(pft_report_total_ns(&report, run), 100 * MS - 60 - 100);
	cr_assert_eq(pft_report_self_ns(&report, tick), 50);
	cr_assert(pft_report_is_mostly_probe(&report, tick));
	cr_assert(!pft_report_is_mostly_probe(&report, run));
}

Test(report, as_text_has_tables)
{
	const char *text;

	pft_report_text(&out, &report, 10, false);
	text = written();
	assert_has(text, "pro\"gram (7): 5 calls in 2 threads, 100 ms\n"
			 "12 events = 8 written + 3 filtered + 1 dropped\n"
			 "5,120 KiB of memory at most, 323 page faults, 2 of them from a disk\n");
	assert_has(text, "\n   own time    as seen      total      calls     median        p99    longest  "
			 "function\n");
	assert_has(text, "\n      50 ms      50 ms     100 ms          1     ");
	assert_has(text, " *tick\n");
	assert_has(text, "\n     100 ms      50 ms       50 %          2  7 main\n");
	assert_has(text, "\n      60 ms      40 ms       33 %          3  8 worker\n");
	assert_has(text, "\n      50 ms      10 ms          7  pthread_join\n");
	assert_has(text, "\nbottlenecks\n");
	assert_has(text, "Blocking input and output: fetch;all > read\n");
}

// What a terminal shows: the text without its escape sequences.
static char *shown(const char *text)
{
	char *to = malloc(strlen(text) + 1), *start = to;

	while (*text) {
		if (*text == '\033')
			text = strchr(text, 'm') + 1;
		else
			*to++ = *text++;
	}
	*to = '\0';
	return start;
}

Test(report, as_text_says_the_same_in_colour)
{
	char *plain, *coloured;

	pft_report_text(&out, &report, 10, false);
	plain = strdup(written());
	pft_report_text(&out, &report, 10, true);
	coloured = strdup(written() + strlen(plain));
	assert_has(coloured, "\n\033[1m   own time    as seen");
	assert_has(coloured, "  function\033[0m\n");
	assert_has(coloured, "\n\033[1mbottlenecks\033[0m\n\033[3");
	cr_assert_str_eq(shown(coloured), plain);
}

Test(report, as_text_has_no_more_rows_than_asked_for)
{
	const char *text;

	pft_report_text(&out, &report, 1, false);
	text = written();
	assert_has(text, "pthread_join\n");
	cr_assert_null(strstr(text, "tick"));
	assert_has(text, "\nand 4 functions more (-n)\n");
	assert_has(text, "\nand 1 thread more (-n)\n");
}

Test(report, as_folded_chains_has_a_line_a_chain)
{
	const char *text;

	pft_report_folded(&out, &report);
	text = written();
	assert_has(text, "run 50000000\n");
	assert_has(text, "run;pthread_join 50000000\n");
	assert_has(text, "fetch:all;read 40000000\n");
	assert_has(text, "fetch:all 19999890\n");
}

Test(report, as_json_names_everything)
{
	const char *text;

	pft_report_json(&out, &report);
	text = written();
	assert_has(text, "{\"process\":\"pro\\\"gram\",\"pid\":7,\"command_line\":\"pro\\\"gram -x\",");
	assert_has(text, "\"name\":\"run\",\"category\":\"libc.so.6\",\"kind\":\"other\",\"calls\":1,\"not_"
			 "returned\":0,\"unwound\":0,"
			 "\"total_ns\":100000000,\"self_ns\":50000000,\"total_corrected_ns\":99999840,"
			 "\"self_corrected_ns\":49999900,\"mostly_probe\":false,\"min_ns\":100000000,"
			 "\"mean_ns\":100000000,");
	assert_has(text, "\"callers\":[{\"name\":\"fetch;all\",\"calls\":1,\"total_ns\":40000000}]");
	assert_has(text, "\"title\":\"Blocking input and output\",\"place\":\"fetch;all > read\"");
}

static unsigned count(const char *text, const char *words)
{
	unsigned count = 0;

	while ((text = strstr(text, words)) != NULL)
		text += strlen(words), count++;
	return count;
}

Test(report, as_json_has_no_more_than_its_bounds_and_says_how_many_there_are)
{
	const struct pft_report_bounds bounds = {.functions = 2, .threads = 1, .chains = 3};
	const char *text;

	pft_report_json_within(&out, &report, &bounds);
	text = written();
	assert_has(text, "\"function_count\":5,\"thread_count\":2,\"chain_count\":5\n");
	cr_assert_eq(count(text, "\"kind\":"), 2);
	cr_assert_eq(count(text, "\"ended\":"), 1);
	cr_assert_eq(count(text, "\"node\":"), 3);
	assert_has(text, "\"extent_ns\":100000000");
}

Test(report, as_page_stands_between_the_two_halves_of_a_document)
{
	const char *text;

	pft_report_html_open(&out);
	pft_report_html(&out, &report, 1);
	pft_report_html(&out, &report, 1);
	pft_report_html_close(&out);
	text = written();
	cr_assert_eq(strncmp(text, "<!DOCTYPE html>\n", 16), 0);
	cr_assert_str_eq(text + strlen(text) - 8, "</html>\n");
	cr_assert_eq(count(text, "<script type=\"application/json\" class=\"report\">\n{\"process\":"), 2);
	cr_assert_eq(count(text, "]}\n</script>\n"), 2);
}

Test(report, as_chrome_json_lays_functions_end_to_end)
{
	const char *text;

	pft_report_chrome(&out, &report);
	text = written();
	assert_has(text, "\"name\":\"pthread_join\",\"ts\":0.000,\"dur\":49999.940,");
	assert_has(text, "\"name\":\"run\",\"ts\":49999.940,\"dur\":49999.900,");
	assert_has(text,
		"\"ph\":\"i\",\"pid\":7,\"tid\":7,\"name\":\"bottleneck:fetch;all > read\",\"ts\":10000.000,"
		"\"s\":\"p\",\"args\":{\"type\":\"blocking_io\"");
	assert_has(text, "\"peak_rss_bytes\":5242880,\"minor_faults\":321,\"major_faults\":2}}\n");
}
