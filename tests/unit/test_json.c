// SPDX-License-Identifier: MIT
// Unit tests of encoder/json.c and json_text.c: the text, byte for byte, and what Python's parser and
// chrome://tracing's rules make of it. Run by Criterion.
#include "encoder/json.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/reader.h"

#define HEAD "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
#define MAIN "\"pid\":7,\"tid\":8,"

static struct pft_arena memory;
static struct pft_json *json;
static struct pft_json_track *track;
static int fd;

static void start(void)
{
	fd = pft_reader_file();
	json = pft_json_open(fd, &memory);
	cr_assert_not_null(json);
	track = pft_json_thread(json, 7, 8);
	cr_assert_not_null(track);
}

TestSuite(json, .init = start);

static const char *text(void)
{
	static char *bytes;
	struct stat found;

	cr_assert_eq(pft_json_flush(json), 0);
	cr_assert_eq(fstat(fd, &found), 0);
	bytes = realloc(bytes, (size_t)found.st_size + 1);
	cr_assert_eq(pread(fd, bytes, (size_t)found.st_size, 0), found.st_size);
	bytes[found.st_size] = '\0';
	return bytes;
}

static const struct pft_reader_lines *events(void)
{
	cr_assert_eq(pft_json_flush(json), 0);
	return pft_reader_chrome(fd);
}

static void begin(uint64_t ns, const char *name)
{
	pft_json_begin(track, ns, name, NULL, NULL, 0);
}

static void end(uint64_t ns)
{
	pft_json_end(track, ns, NULL, 0);
}

Test(json, is_whole_without_an_event)
{
	cr_assert_str_eq(text(), HEAD "\n]}\n");
	pft_json_finish(json, NULL, 0);
	cr_assert_str_eq(text(), HEAD "\n],\"otherData\":{}}\n");
}

Test(json, writes_a_call_as_one_event_with_nanoseconds_as_decimals)
{
	pft_json_begin(track, 1000000005, "inflate", "libz.so.1", NULL, 0);
	pft_json_end(track, 1000001012, NULL, 0);
	cr_assert_str_eq(text(), HEAD "\n{\"ph\":\"X\"," MAIN "\"ts\":1000000.005,\"dur\":1.007,"
				      "\"name\":\"inflate\",\"cat\":\"libz.so.1\"}\n]}\n");
}

Test(json, is_whole_after_every_flush)
{
	const char *ends;

	for (uint64_t i = 0; i < 20; i++) {
		begin(10 * i, "a");
		end(10 * i + 1);
		ends = strstr(text(), "\n]}");
		cr_assert_not_null(ends);
		cr_assert_str_eq(ends, "\n]}\n");
	}
	cr_assert_eq(events()->count, 20);
}

Test(json, is_whole_after_every_write_of_a_full_buffer)
{
	struct stat found = {0};
	off_t before = 0;
	char last[4];

	for (uint64_t i = 0; i < 10000; i++) {
		begin(i, "a");
		end(i + 1);
		cr_assert_eq(fstat(fd, &found), 0);
		if (found.st_size == before)
			continue;
		before = found.st_size;
		cr_assert_eq(pread(fd, last, 4, before - 4), 4);
		cr_assert_eq(memcmp(last, "\n]}\n", 4), 0);
	}
	cr_assert_gt(before, 4 * 65536);
}

Test(json, names_processes_and_threads_under_their_real_ids)
{
	pft_json_process(json, 7, "xz");
	pft_json_name(track, "worker");
	pft_json_name(track, "");
	cr_assert_str_eq(text(),
		HEAD "\n{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"ts\":0,\"name\":\"process_name\","
		     "\"args\":{\"name\":\"xz\"}}"
		     ",\n{\"ph\":\"M\"," MAIN "\"ts\":0,\"name\":\"thread_name\","
		     "\"args\":{\"name\":\"worker\"}}\n]}\n");
}

Test(json, gives_other_stacks_tids_that_no_thread_has)
{
	struct pft_json_track *first = pft_json_fiber(json, 7), *second = pft_json_fiber(json, 7);

	pft_json_instant(first, 1, "a", NULL, NULL, 0);
	pft_json_instant(second, 1, "b", NULL, NULL, 0);
	cr_assert_not_null(
		strstr(text(), "\"pid\":7,\"tid\":4194304,\"ts\":0.001,\"s\":\"t\",\"name\":\"a\""));
	cr_assert_not_null(
		strstr(text(), "\"pid\":7,\"tid\":4194305,\"ts\":0.001,\"s\":\"t\",\"name\":\"b\""));
}

// ---- names ------------------------------------------------------------------------------------------

static const char *string_of(const char *name)
{
	static char room[3 * PFT_JSON_STRING_MAX];
	struct pft_text built = pft_text_in(room, sizeof room);

	pft_json_add_string(&built, name);
	return room;
}

Test(json_text, escapes_what_json_would_take_for_its_own)
{
	cr_assert_str_eq(string_of(""), "\"\"");
	cr_assert_str_eq(string_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
	cr_assert_str_eq(string_of("\x01\n\t\x1f\x7f "), "\"\\u0001\\u000a\\u0009\\u001f\\u007f \"");
}

Test(json_text, escapes_what_would_end_the_script_of_a_page)
{
	cr_assert_str_eq(string_of("a</script><!--<b> <"), "\"a\\u003c/script>\\u003c!--<b> <\"");
}

Test(json_text, keeps_utf_8_and_replaces_what_is_none)
{
	cr_assert_str_eq(string_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
		"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	cr_assert_str_eq(string_of("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
	cr_assert_str_eq(
		string_of("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); // a surrogate
	cr_assert_str_eq(string_of("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\""); // overlong
}

Test(json_text, cuts_long_strings_at_a_character_s_end)
{
	char name[2 * PFT_JSON_STRING_MAX + 1];
	const char *built;

	for (size_t shift = 0; shift < 3; shift++) {
		memset(name, '\x01', sizeof name);
		memset(name, 'a', shift);
		name[sizeof name - 1] = '\0';
		built = string_of(name);
		cr_assert_leq(strlen(built), PFT_JSON_STRING_MAX);
		cr_assert_gt(strlen(built), PFT_JSON_STRING_MAX - 6);
		cr_assert_str_eq(built + strlen(built) - 7, "\\u0001\"");
	}
}

// Every byte in a name, alone and before a letter, and the whole passes a strict parser.
Test(json, takes_names_of_every_byte)
{
	for (unsigned byte = 1; byte < 256; byte++) {
		const char name[] = {(char)byte, 'x', (char)byte, '\0'};

		pft_json_begin(track, byte, name, name, NULL, 0);
		pft_json_name(track, name);
		end(byte + 1);
	}
	cr_assert_eq(events()->count, 255);
}

// ---- args -------------------------------------------------------------------------------------------

static const char *args_of(const struct pft_arg *args, size_t count)
{
	static char room[4 * PFT_JSON_ARGS_MAX];
	struct pft_text built = pft_text_in(room, sizeof room);

	pft_json_add_args(&built, args, count);
	return room;
}

Test(json_text, types_values)
{
	const struct pft_arg args[] = {
		{.name = "t", .kind = PFT_ARG_TEXT, .text = "\"x\""},
		{.name = "n", .kind = PFT_ARG_NUMBER, .text = "-1.5e300"},
		{.name = "u", .kind = PFT_ARG_UNSIGNED, .number = UINT64_MAX},
		{.name = "s", .kind = PFT_ARG_SIGNED, .number = (uint64_t)INT64_MIN},
		{.name = "p", .kind = PFT_ARG_SIGNED, .number = (uint64_t)INT64_MAX},
		{.name = "b", .kind = PFT_ARG_BOOL, .number = 1},
		{.name = "f", .kind = PFT_ARG_BOOL},
		{.name = "h", .kind = PFT_ARG_ADDRESS, .number = 0xfeed},
	};

	cr_assert_str_eq(args_of(args, 8),
		"\"t\":\"\\\"x\\\"\",\"n\":-1.5e300,\"u\":18446744073709551615,\"s\":-9223372036854775808,"
		"\"p\":9223372036854775807,\"b\":true,\"f\":false,\"h\":\"0xfeed\"");
}

Test(json_text, leaves_out_args_that_do_not_fit)
{
	char long_text[PFT_JSON_STRING_MAX + 1];
	struct pft_arg args[4] = {
		{.name = "a", .kind = PFT_ARG_TEXT, .text = long_text},
		{.name = "b", .kind = PFT_ARG_TEXT, .text = long_text},
		{.name = "c", .kind = PFT_ARG_TEXT, .text = long_text},
		{.name = "d", .kind = PFT_ARG_BOOL, .number = 1},
	};
	const char *built;

	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	built = args_of(args, 4);
	cr_assert_leq(strlen(built), PFT_JSON_ARGS_MAX);
	cr_assert_not_null(strstr(built, "xx\",\"d\":true"));
	cr_assert_null(strstr(built, "\"c\""));
}

Test(json, joins_args_of_begin_and_end)
{
	const struct pft_arg at_begin = {.name = "size", .kind = PFT_ARG_UNSIGNED, .number = 5};
	const struct pft_arg at_end = {.name = "unwound", .kind = PFT_ARG_BOOL, .number = 1};
	const struct pft_reader_lines *lines;

	pft_json_begin(track, 1, "a", NULL, &at_begin, 1);
	pft_json_end(track, 2, &at_end, 1);
	pft_json_begin(track, 3, "b", NULL, &at_begin, 1);
	pft_json_end(track, 4, NULL, 0);
	pft_json_begin(track, 5, "c", NULL, NULL, 0);
	pft_json_end(track, 6, &at_end, 1);
	lines = events();
	cr_assert(pft_reader_says(lines, 0, "\"args\": {\"size\": 5, \"unwound\": true}"));
	cr_assert(pft_reader_says(lines, 1, "\"args\": {\"size\": 5}"));
	cr_assert(pft_reader_says(lines, 2, "\"args\": {\"unwound\": true}"));
}

// The longest of everything that an event can hold fits the buffer.
Test(json, takes_the_longest_event)
{
	static char name[8 * PFT_JSON_STRING_MAX];
	struct pft_arg args[2] = {{.name = name, .kind = PFT_ARG_TEXT, .text = ""},
		{.name = "x", .kind = PFT_ARG_TEXT, .text = name}};
	const struct pft_reader_lines *lines;

	memset(name, '\x02', sizeof name - 1);
	pft_json_begin(track, UINT64_MAX - 1, name, name, args, 2);
	args[1].name = "y";
	pft_json_end(track, UINT64_MAX, &args[1], 1);
	pft_json_instant(track, UINT64_MAX, name, name, args, 2);
	lines = events();
	cr_assert_eq(lines->count, 2);
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 1"));
}

// ---- nesting ----------------------------------------------------------------------------------------

Test(json, writes_calls_in_the_order_of_their_ends)
{
	const struct pft_reader_lines *lines;

	begin(1, "outer");
	begin(2, "inner");
	end(3);
	end(4);
	lines = events();
	cr_assert(pft_reader_says(lines, 0, "\"name\": \"inner\""));
	cr_assert(pft_reader_says(lines, 0, "\"depth\": 1, \"parent\": \"outer\""));
	cr_assert(pft_reader_says(lines, 1, "\"depth\": 0"));
}

Test(json, puts_the_longer_first_where_times_are_equal)
{
	const struct pft_reader_lines *lines;

	begin(5, "a");
	begin(5, "b");
	begin(5, "c");
	end(5); // c took no time
	begin(5, "d");
	end(6);
	end(6); // b ends with d
	begin(6, "e");
	end(7);
	end(7); // a
	lines = events();
	cr_assert_eq(lines->count, 5);
	cr_assert(pft_reader_says(lines, 0, "\"name\": \"e\""));
	cr_assert(pft_reader_says(lines, 1, "\"name\": \"a\""));
	cr_assert(pft_reader_says(lines, 2, "\"name\": \"b\""));
	cr_assert(pft_reader_says(lines, 3, "\"name\": \"c\""));
	cr_assert(pft_reader_says(lines, 4, "\"name\": \"d\""));
	cr_assert(pft_reader_says(lines, 0, "\"parent\": \"a\""));
	cr_assert(pft_reader_says(lines, 2, "\"parent\": \"a\""));
	cr_assert(pft_reader_says(lines, 3, "\"parent\": \"b\""));
	cr_assert(pft_reader_says(lines, 4, "\"parent\": \"b\""));
}

Test(json, keeps_the_order_of_the_deepest_nest_that_takes_no_time)
{
	const struct pft_reader_lines *lines;
	char name[16];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "level %d", i);
		begin(9, name);
	}
	for (int i = 0; i < 500; i++)
		end(9);
	lines = events();
	cr_assert_eq(lines->count, 500);
	for (size_t i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "\"level %zu\"", i);
		cr_assert(pft_reader_says(lines, i, name));
	}
}

// What is held back does not grow with the number of slices.
Test(json, holds_back_no_more_than_a_few_thousand)
{
	begin(1, "outer");
	for (int i = 0; i < 100000; i++) {
		begin(1, "inner");
		end(1);
	}
	cr_assert_eq(pft_json_flush(json), 0);
	cr_assert_gt(strlen(text()),
		95000 * strlen("{'ph':'X','pid':7,'tid':8,'ts':0.001,'dur':0.000,'name':'inner'}"));
	end(2);
	cr_assert_not_null(strstr(text(), "outer"));
}

Test(json, ignores_an_end_that_closes_nothing_and_keeps_durations_positive)
{
	end(1);
	begin(5, "a");
	end(4);
	cr_assert_eq(events()->count, 1);
	cr_assert(pft_reader_says(events(), 0, "\"dur\": 0"));
}

// ---- the end ----------------------------------------------------------------------------------------

Test(json, writes_what_never_ended_as_begins_with_what_it_held_back)
{
	const struct pft_reader_lines *lines;

	begin(1, "main");
	begin(1, "called at once");
	end(2);
	begin(3, "exit");
	pft_json_finish(json, NULL, 0);
	lines = events();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 0, "\"ph\": \"B\", \"name\": \"main\""));
	cr_assert(pft_reader_says(lines, 1, "\"ph\": \"X\", \"name\": \"called at once\""));
	cr_assert(pft_reader_says(lines, 1, "\"parent\": \"main\""));
	cr_assert(pft_reader_says(lines, 2, "\"ph\": \"B\", \"name\": \"exit\""));
	cr_assert(pft_reader_says(lines, 2, "\"dur\": null"));
}

Test(json, takes_the_end_back_when_more_is_said)
{
	const struct pft_arg other[] = {
		{.name = "written", .kind = PFT_ARG_UNSIGNED, .number = 3},
		{.name = "line", .kind = PFT_ARG_TEXT, .text = "a b"},
	};
	const struct pft_reader_lines *lines;

	begin(1, "a");
	pft_json_finish(json, other, 2);
	cr_assert_not_null(
		strstr(text(), "\"name\":\"a\"}\n],\"otherData\":{\"written\":3,\"line\":\"a b\"}}\n"));
	end(2);
	cr_assert_null(strstr(text(), "otherData"));
	lines = events();
	cr_assert_eq(lines->count, 1);
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 1"));
	pft_json_finish(json, other, 1);
	cr_assert_not_null(strstr(text(), "\n],\"otherData\":{\"written\":3}}\n"));
	pft_json_finish(json, other, 1);
	cr_assert_eq(events()->count, 1);
}

Test(json, goes_on_in_a_file_that_was_opened_anew)
{
	char path[32];
	int other;

	begin(1, "a");
	pft_json_finish(json, NULL, 0);
	cr_assert_eq(pft_json_flush(json), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	other = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	cr_assert_geq(other, 0);
	pft_json_reopen(json, other);
	end(2);
	pft_json_finish(json, NULL, 0);
	cr_assert_eq(events()->count, 1);
}

Test(json, reuses_a_retired_track_and_writes_what_was_open_on_it)
{
	struct pft_json_track *other;

	begin(1, "lost");
	pft_json_retire(track);
	other = pft_json_thread(json, 7, 9);
	cr_assert_eq(other, track);
	begin(2, "b");
	end(3);
	cr_assert_not_null(strstr(text(), "{\"ph\":\"B\"," MAIN "\"ts\":0.001,\"name\":\"lost\"}"));
	cr_assert_not_null(strstr(text(), "\"tid\":9,\"ts\":0.002,\"dur\":0.001,\"name\":\"b\"}"));
}

// ---- other events -----------------------------------------------------------------------------------

Test(json, writes_instants_counters_and_flows)
{
	const struct pft_arg value = {.name = "value", .kind = PFT_ARG_SIGNED, .number = (uint64_t)INT64_MAX};

	pft_json_instant(track, 1, "i", "c", NULL, 0);
	pft_json_lost(track, 2, 3);
	pft_json_counter(track, 3, "n", &value);
	pft_json_flow(track, 4, PFT_JSON_FLOW_START, UINT64_MAX);
	pft_json_flow(track, 5, PFT_JSON_FLOW_END, UINT64_MAX);
	cr_assert_eq(events()->count, 5);
	cr_assert_str_eq(text(), HEAD
		"\n{\"ph\":\"i\"," MAIN "\"ts\":0.001,\"s\":\"t\",\"name\":\"i\",\"cat\":\"c\"}"
		",\n{\"ph\":\"i\"," MAIN "\"ts\":0.002,\"s\":\"t\",\"name\":\"pftshim: events lost\",\"cat\":"
		"\"pftshim\",\"args\":{\"dropped\":3}}"
		",\n{\"ph\":\"C\"," MAIN
		"\"ts\":0.003,\"name\":\"n\",\"args\":{\"value\":9223372036854775807}}"
		",\n{\"ph\":\"s\"," MAIN
		"\"ts\":0.004,\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"0xffffffffffffffff\"}"
		",\n{\"ph\":\"f\"," MAIN
		"\"ts\":0.005,\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"0xffffffffffffffff\","
		"\"bp\":\"e\"}\n]}\n");
}

Test(json, tells_an_error_once)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	pft_json_reopen(json, full);
	begin(1, "a");
	end(2);
	cr_assert_neq(pft_json_flush(json), 0);
	begin(3, "a");
	end(4);
	cr_assert_eq(pft_json_flush(json), 0);
}
