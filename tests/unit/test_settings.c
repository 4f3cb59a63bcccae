// SPDX-License-Identifier: MIT
// The environment's settings: what is accepted, what is refused and how.
#include "shim/settings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shim/user.h"
#include "tests/unit/captured.h"

static struct pft_arena arena = PFT_ARENA_EMPTY;
static struct pft_settings settings;

static int read_two(const char *first, const char *second)
{
	char *environment[] = {(char *)first, (char *)second, NULL};

	return pft_settings_read(&settings, environment, "make", &arena);
}

static int read_one(const char *assignment)
{
	return read_two(assignment, NULL);
}

// The line that is said when a value is refused; fails when it is taken.
static const char *refusal_of(const char *assignment)
{
	int result;
	const char *line;

	captured_start();
	result = read_one(assignment);
	line = captured_stop();
	cr_assert_eq(result, -EINVAL, "%s was taken", assignment);
	return line;
}

Test(settings, has_the_documented_defaults)
{
	char *environment[] = {NULL};
	char directory[512];
	struct passwd *user = getpwuid(geteuid());

	cr_assert_eq(pft_settings_read(&settings, environment, "make", &arena), 0);
	cr_assert_eq(settings.mode, PFT_MODE_USER);
	cr_assert_eq(settings.overflow, PFT_OVERFLOW_WAIT);
	cr_assert_eq(settings.clock, PFT_CLOCK_TSC);
	cr_assert_eq(settings.buffer_bytes, 128 * 1024);
	cr_assert_eq(settings.min_duration_ns, 0);
	cr_assert_eq(settings.max_depth, 0);
	cr_assert_not(settings.verbose);
	cr_assert_null(settings.functions);
	cr_assert_null(settings.execution);
	cr_assert_null(settings.process_name);
	snprintf(directory, sizeof(directory), "/tmp/%s/pft_traces", user->pw_name);
	cr_assert_str_eq(settings.directory, directory);
}

Test(settings, knows_every_word_for_a_mode_in_any_case)
{
	static const struct {
		const char *assignment;
		enum pft_mode mode;
	} words[] = {
		{"PFT_MODE=off", PFT_MODE_OFF},
		{"PFT_MODE=False", PFT_MODE_OFF},
		{"PFT_MODE=0", PFT_MODE_OFF},
		{"PFT_MODE=NONE", PFT_MODE_OFF},
		{"PFT_MODE=User", PFT_MODE_USER},
		{"PFT_MODE=TRUE", PFT_MODE_USER},
		{"PFT_MODE=1", PFT_MODE_USER},
		{"PFT_MODE=dEv", PFT_MODE_DEV},
		{"PFT_MODE=all", PFT_MODE_DEV},
		{"PFT_MODE=Debug", PFT_MODE_DEV},
		{"PERFETTO_TRACE_MODE=dev", PFT_MODE_DEV},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		cr_assert_eq(read_one(words[i].assignment), 0, "%s", words[i].assignment);
		cr_assert_eq(settings.mode, words[i].mode, "%s", words[i].assignment);
	}
}

Test(settings, prefers_its_own_name_to_the_other_one)
{
	cr_assert_eq(read_two("PERFETTO_TRACE_MODE=dev", "PFT_MODE=off"), 0);
	cr_assert_eq(settings.mode, PFT_MODE_OFF);
	cr_assert_eq(read_two("MONARCH_TRACE_DIR=/a", "PFT_TRACE_DIR=/b"), 0);
	cr_assert_str_eq(settings.directory, "/b");
	cr_assert_eq(read_one("MONARCH_TRACE_DIR=/a"), 0);
	cr_assert_str_eq(settings.directory, "/a");
}

Test(settings, takes_an_empty_variable_as_unset)
{
	cr_assert_eq(read_two("PFT_MODE=", "PERFETTO_TRACE_MODE=dev"), 0);
	cr_assert_eq(settings.mode, PFT_MODE_DEV);
	cr_assert_eq(read_two("PFT_FUNCS=", "PFT_BUFFER="), 0);
	cr_assert_null(settings.functions);
	cr_assert_eq(settings.buffer_bytes, 128 * 1024);
}

Test(settings, looks_at_nothing_else_when_off)
{
	captured_start();
	cr_expect_eq(read_two("PFT_BUFFER=nonsense", "PFT_MODE=off"), 0);
	cr_assert_str_empty(captured_stop());
}

Test(settings, is_off_in_a_program_that_is_not_selected)
{
	cr_assert_eq(read_two("PFT_PROCESSES=cc1*", "PFT_MODE=dev"), 0);
	cr_assert_eq(settings.mode, PFT_MODE_OFF);
	cr_assert_eq(read_two("PFT_PROCESSES=m*", "PFT_MODE=dev"), 0);
	cr_assert_eq(settings.mode, PFT_MODE_DEV);
	captured_start();
	cr_expect_eq(read_two("PFT_PROCESSES=cc1*", "PFT_BUFFER=nonsense"), 0);
	cr_assert_str_empty(captured_stop());
	cr_assert_not_null(strstr(refusal_of("PFT_PROCESSES=[m"), "accepted: globs"));
}

Test(settings, names_the_variable_the_value_and_what_is_accepted)
{
	cr_assert_str_eq(refusal_of("PFT_OVERFLOW=panic"),
		"pftshim: PFT_OVERFLOW=panic is not understood; accepted: wait, drop, overwrite; "
		"this program is not traced\n");
	cr_assert_not_null(strstr(refusal_of("PERFETTO_TRACE_MODE=loud"), "PERFETTO_TRACE_MODE=loud "));
}

Test(settings, says_what_is_accepted_also_after_a_long_value)
{
	char assignment[3000] = "PFT_MODE=";

	memset(assignment + 9, 'x', sizeof(assignment) - 10);
	cr_assert_not_null(strstr(refusal_of(assignment), "xxx... is not understood; accepted: off"));
}

Test(settings, rounds_a_buffer_up_to_a_power_of_two)
{
	static const struct {
		const char *assignment;
		uint64_t bytes;
	} sizes[] = {
		{"PFT_BUFFER=16384", 16384},
		{"PFT_BUFFER=16385", 32768},
		{"PFT_BUFFER=16K", 16384},
		{"PFT_BUFFER=100k", 131072},
		{"PFT_BUFFER=3M", 4194304},
		{"PFT_BUFFER=64M", 67108864},
		{"PFT_BUFFER=67108864", 67108864},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		cr_assert_eq(read_one(sizes[i].assignment), 0, "%s", sizes[i].assignment);
		cr_assert_eq(settings.buffer_bytes, sizes[i].bytes, "%s", sizes[i].assignment);
	}
}

Test(settings, reads_how_packets_are_compressed)
{
	cr_assert_eq(read_one("PFT_COMPRESS="), 0);
	cr_assert_eq(settings.compress, PFT_COMPRESS_OFF);
	cr_assert_eq(read_one("PFT_COMPRESS=off"), 0);
	cr_assert_eq(settings.compress, PFT_COMPRESS_OFF);
	cr_assert_eq(read_one("PFT_COMPRESS=Deflate"), 0);
	cr_assert_eq(settings.compress, PFT_COMPRESS_DEFLATE);
	cr_assert_eq(read_one("PFT_COMPRESS=zstd"), 0);
	cr_assert_eq(settings.compress, PFT_COMPRESS_ZSTD);
}

Test(settings, reads_the_size_of_segments_and_how_many_are_kept)
{
	static const struct {
		const char *assignment;
		uint64_t bytes;
		uint32_t kept;
	} sizes[] = {
		{"PFT_MAX_SIZE=", 0, 0},
		{"PFT_MAX_SIZE=65536", 65536, 0},
		{"PFT_MAX_SIZE=64K", 65536, 0},
		{"PFT_MAX_SIZE=64m,4", UINT64_C(64) << 20, 4},
		{"PFT_MAX_SIZE=3G,1000", UINT64_C(3) << 30, 1000},
		{"PFT_MAX_SIZE=100000,1", 100000, 1},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		cr_assert_eq(read_one(sizes[i].assignment), 0, "%s", sizes[i].assignment);
		cr_assert_eq(settings.segment_bytes, sizes[i].bytes, "%s", sizes[i].assignment);
		cr_assert_eq(settings.segments_kept, sizes[i].kept, "%s", sizes[i].assignment);
	}
}

Test(settings, reads_what_triggers)
{
	cr_assert_eq(read_one("PFT_TRIGGER=10ms"), 0);
	cr_assert_eq(settings.trigger_ns, 10000000);
	cr_assert_str_eq(settings.trigger_functions, "*");
	cr_assert_eq(read_one("PFT_TRIGGER=1us:ns::f,-ns::g"), 0);
	cr_assert_eq(settings.trigger_ns, 1000);
	cr_assert_str_eq(settings.trigger_functions, "ns::f,-ns::g");
	cr_assert_eq(read_one("PFT_OVERFLOW=wait"), 0);
	cr_assert_eq(settings.trigger_ns, 0);
	cr_assert_null(settings.trigger_functions);
}

Test(settings, keeps_the_newest_for_a_trigger_and_refuses_what_does_not)
{
	const char *line;

	cr_assert_eq(read_one("PFT_TRIGGER=10ms"), 0);
	cr_assert_eq(settings.overflow, PFT_OVERFLOW_OVERWRITE);
	cr_assert_eq(read_two("PFT_TRIGGER=10ms", "PFT_OVERFLOW=overwrite"), 0);
	captured_start();
	cr_assert_eq(read_two("PFT_TRIGGER=10ms", "PFT_OVERFLOW=wait"), -EINVAL);
	line = captured_stop();
	cr_assert_not_null(strstr(line, "PFT_OVERFLOW=wait leaves nothing for PFT_TRIGGER"), "%s", line);
	cr_assert_not_null(strstr(line, "accepted with it: overwrite"));
}

Test(settings, refuses_numbers_that_are_none_or_out_of_range)
{
	static const char *const wrong[] = {
		"PFT_BUFFER=16383",
		"PFT_BUFFER=65M",
		"PFT_BUFFER=67108865",
		"PFT_BUFFER=128 K",
		"PFT_BUFFER=128KB",
		"PFT_BUFFER=-128K",
		"PFT_BUFFER=+128K",
		"PFT_BUFFER=0x20000",
		"PFT_BUFFER=K",
		"PFT_BUFFER=18446744073709551616",
		"PFT_BUFFER=18014398509481985K",
		"PFT_COMPRESS=gzip",
		"PFT_COMPRESS=1",
		"PFT_MAX_SIZE=65535",
		"PFT_MAX_SIZE=63K",
		"PFT_MAX_SIZE=64KB",
		"PFT_MAX_SIZE=64M,",
		"PFT_MAX_SIZE=64M,0",
		"PFT_MAX_SIZE=64M,1001",
		"PFT_MAX_SIZE=64M,4x",
		"PFT_MAX_SIZE=64M 4",
		"PFT_MAX_SIZE=,4",
		"PFT_MAX_SIZE=17179869184G",
		"PFT_TRIGGER=10",
		"PFT_TRIGGER=0ms",
		"PFT_TRIGGER=10ms:",
		"PFT_TRIGGER=:read",
		"PFT_TRIGGER=read",
		"PFT_TRIGGER=10ms,read",
		"PFT_TRIGGER=99999999999999999999999999999999999999ns",
		"PFT_MIN_DURATION=10",
		"PFT_MIN_DURATION=us",
		"PFT_MIN_DURATION=1.5us",
		"PFT_MIN_DURATION=10us ",
		"PFT_MIN_DURATION=18446744073710ms",
		"PFT_STACKS=>",
		"PFT_STACKS=>100",
		"PFT_STACKS=>0us",
		"PFT_STACKS=>1us,f",
		"PFT_MAX_DEPTH=0",
		"PFT_MAX_DEPTH=501",
		"PFT_MAX_DEPTH=5x",
		"PFT_MAX_DEPTH= 5",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		refusal_of(wrong[i]);
}

Test(settings, reads_durations_in_every_unit)
{
	static const struct {
		const char *assignment;
		uint64_t ns;
	} durations[] = {
		{"PFT_MIN_DURATION=7ns", 7},
		{"PFT_MIN_DURATION=10us", 10000},
		{"PFT_MIN_DURATION=3ms", 3000000},
		{"PFT_MIN_DURATION=2s", 2000000000},
		{"PFT_MIN_DURATION=0ns", 0},
		{"PFT_MIN_DURATION=18446744073709551615ns", UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
		cr_assert_eq(read_one(durations[i].assignment), 0, "%s", durations[i].assignment);
		cr_assert_eq(settings.min_duration_ns, durations[i].ns, "%s", durations[i].assignment);
	}
}

Test(settings, reads_the_depth_within_what_viewers_keep)
{
	cr_assert_eq(read_one("PFT_MAX_DEPTH=1"), 0);
	cr_assert_eq(settings.max_depth, 1);
	cr_assert_eq(read_one("PFT_MAX_DEPTH=500"), 0);
	cr_assert_eq(settings.max_depth, 500);
}

Test(settings, reads_whose_stacks_are_taken)
{
	cr_assert_eq(read_one("PFT_STACKS=off"), 0);
	cr_assert_not(settings.stacks);
	cr_assert_eq(read_one("PFT_STACKS=All"), 0);
	cr_assert(settings.stacks);
	cr_assert_str_eq(settings.stack_functions, "*");
	cr_assert_eq(read_one("PFT_STACKS=read,-write@libc.so*"), 0);
	cr_assert(settings.stacks);
	cr_assert_str_eq(settings.stack_functions, "read,-write@libc.so*");
	cr_assert_eq(settings.stacks_over_ns, 0);
	cr_assert_eq(read_one("PFT_STACKS=>100us"), 0);
	cr_assert(settings.stacks);
	cr_assert_null(settings.stack_functions);
	cr_assert_eq(settings.stacks_over_ns, 100000);
}

Test(settings, reads_when_the_window_opens_and_closes)
{
	cr_assert_eq(read_two("PFT_START=2s", "PFT_STOP=10000events"), 0);
	cr_assert_eq(settings.start.kind, PFT_EDGE_DELAY);
	cr_assert_eq(settings.start.amount, 2000000000);
	cr_assert_eq(settings.stop.kind, PFT_EDGE_EVENTS);
	cr_assert_eq(settings.stop.amount, 10000);
	cr_assert_eq(read_one("PFT_START=ctl"), 0);
	cr_assert_eq(settings.start.kind, PFT_EDGE_ASKED);
	cr_assert_eq(settings.stop.kind, PFT_EDGE_NONE);
}

Test(settings, records_the_functions_that_open_and_close_the_window)
{
	cr_assert_eq(read_two("PFT_START=serve*", "PFT_STOP=main_end@prog"), 0);
	cr_assert_eq(settings.start.kind, PFT_EDGE_CALL);
	cr_assert_eq(settings.stop.kind, PFT_EDGE_CALL);
	cr_assert_str_eq(settings.start_function, "serve*");
	cr_assert_str_eq(settings.functions, "serve*,main_end@prog");
	cr_assert_eq(read_two("PFT_FUNCS=a,b", "PFT_STOP=c"), 0);
	cr_assert_str_eq(settings.functions, "a,b,c");
}

Test(settings, refuses_a_time_of_the_window_that_is_none)
{
	refusal_of("PFT_START=2");
	refusal_of("PFT_START=2x");
	refusal_of("PFT_STOP=1000 events");
	refusal_of("PFT_STOP=99999999999999999999events");
}

Test(settings, reads_words)
{
	cr_assert_eq(read_two("PFT_OVERFLOW=Drop", "PFT_CLOCK=monotonic"), 0);
	cr_assert_eq(settings.overflow, PFT_OVERFLOW_DROP);
	cr_assert_eq(settings.clock, PFT_CLOCK_MONOTONIC);
	cr_assert_not(settings.trust_tsc);
	cr_assert_eq(read_two("PFT_OVERFLOW=Drop", "PFT_CLOCK=TSC"), 0);
	cr_assert(settings.clock == PFT_CLOCK_TSC && settings.trust_tsc);
	cr_assert_eq(read_two("PFT_OVERFLOW=overwrite", "PFT_VERBOSE=yes"), 0);
	cr_assert_eq(settings.overflow, PFT_OVERFLOW_OVERWRITE);
	cr_assert(settings.verbose);
	cr_assert_eq(read_two("PFT_VERBOSE=off", "PFT_FORMAT=pftrace"), 0);
	cr_assert_not(settings.verbose);
	cr_assert_eq(settings.files, PFT_FILE_BIT(PFT_FILE_TRACE));
	cr_assert_eq(read_one("PFT_FORMAT=json"), 0);
	cr_assert_eq(settings.files, PFT_FILE_BIT(PFT_FILE_JSON));
	cr_assert_eq(read_one("PFT_FORMAT=pftrace,json"), 0);
	cr_assert_eq(settings.files, PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILE_BIT(PFT_FILE_JSON));
	cr_assert_eq(read_one("PFT_FORMAT=JSON,pftrace"), 0);
	cr_assert_eq(settings.files, PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILE_BIT(PFT_FILE_JSON));
	cr_assert_eq(read_one("PFT_REPORT=off"), 0);
	cr_assert(settings.reports == 0 && !settings.say_report);
	cr_assert_eq(read_one("PFT_REPORT=Text"), 0);
	cr_assert(settings.reports == 0 && settings.say_report);
	cr_assert_eq(read_one("PFT_REPORT=json,folded,file,chrome"), 0);
	cr_assert(settings.reports == PFT_FILES_OF_REPORTS && !settings.say_report);
	refusal_of("PFT_REPORT=text,pdf");
	refusal_of("PFT_REPORT=json,,text");
	refusal_of("PFT_REPORT=text,a-word-that-is-too-long-for-any");
	refusal_of("PFT_FORMAT=xml");
	refusal_of("PFT_FORMAT=json,");
	refusal_of("PFT_CLOCK=sundial");
	refusal_of("PFT_VERBOSE=2");
}

Test(settings, keeps_texts_as_they_are)
{
	cr_assert_eq(read_two("PFT_FUNCS=ma*@libc.so.6,-free", "PFT_EXECUTION_ID=night run"), 0);
	cr_assert_str_eq(settings.functions, "ma*@libc.so.6,-free");
	cr_assert_str_eq(settings.execution, "night run");
	cr_assert_eq(read_one("PFT_PROCESS_NAME=worker"), 0);
	cr_assert_str_eq(settings.process_name, "worker");
}

Test(settings, makes_a_relative_directory_absolute)
{
	cr_assert_eq(chdir("/usr"), 0);
	cr_assert_eq(read_one("PFT_TRACE_DIR=a/b"), 0);
	cr_assert_str_eq(settings.directory, "/usr/a/b");
}

Test(settings, refuses_a_relative_directory_below_one_that_is_gone)
{
	char path[] = "/tmp/pft-gone-XXXXXX";

	cr_assert_not_null(mkdtemp(path));
	cr_assert_eq(chdir(path), 0);
	cr_assert_eq(rmdir(path), 0);
	cr_assert_not_null(strstr(refusal_of("PFT_TRACE_DIR=a"), "PFT_TRACE_DIR=a: "));
}

Test(environment, finds_a_whole_name_and_takes_the_first)
{
	char *environment[] = {"PFT_MODES=x", "PFT_MODE", "XPFT_MODE=y", "PFT_MODE=a=b", "PFT_MODE=c", NULL};

	cr_assert_str_eq(pft_environment_get(environment, "PFT_MODE"), "a=b");
	cr_assert_null(pft_environment_get(environment, "PFT_MOD"));
}

Test(user, has_the_name_that_libc_knows)
{
	cr_assert_str_eq(pft_user_name(&arena), getpwuid(geteuid())->pw_name);
}

Test(user, is_a_number_where_no_name_is_known)
{
	if (geteuid() != 0)
		cr_skip_test("only root can be somebody else");
	cr_assert_eq(seteuid(54321), 0);
	cr_expect_str_eq(pft_user_name(&arena), "54321");
	cr_assert_eq(seteuid(0), 0);
	prctl(PR_SET_DUMPABLE, 1); // or LeakSanitizer cannot look at us
}
