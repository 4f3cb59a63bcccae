// SPDX-License-Identifier: MIT
// Stands in for Criterion where Criterion cannot run: its processes share memory at addresses that
// ThreadSanitizer keeps for itself. `make tsan` puts this header first and links run.c. The few names that
// tests of threads use, with Criterion's meaning; each test runs in a child of its own.
#ifndef PFT_TESTS_PLAIN_CRITERION_H
#define PFT_TESTS_PLAIN_CRITERION_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_FAILED 1
#define PLAIN_SKIPPED 77

struct plain_options {
	double timeout; // seconds
	void (*init)(void);
	void (*fini)(void);
};

struct plain_test {
	const char *suite, *name;
	void (*run)(void);
	struct plain_options options;
	struct plain_test *next;
};

void plain_add(struct plain_test *test);

// Options of all tests of a suite.
struct plain_suite {
	const char *name;
	struct plain_options options;
	struct plain_suite *next;
};

void plain_add_suite(struct plain_suite *suite);

#define TestSuite(suite_, ...)                                                                               \
	static struct plain_suite suite_##_suite = {.name = #suite_, .options = {__VA_ARGS__}};              \
	__attribute__((constructor)) static void suite_##_suite_add(void)                                    \
	{                                                                                                    \
		plain_add_suite(&suite_##_suite);                                                            \
	}

#define Test(suite_, name_, ...)                                                                             \
	static void suite_##_##name_##_run(void);                                                            \
	static struct plain_test suite_##_##name_##_test = {                                                 \
		.suite = #suite_, .name = #name_, .run = suite_##_##name_##_run, .options = {__VA_ARGS__}};  \
	__attribute__((constructor)) static void suite_##_##name_##_add(void)                                \
	{                                                                                                    \
		plain_add(&suite_##_##name_##_test);                                                         \
	}                                                                                                    \
	static void suite_##_##name_##_run(void)

// _exit: an assertion may fail on any thread.
#define PLAIN_LEAVE(status, text)                                                                            \
	do {                                                                                                 \
		fprintf(stderr, "  %s:%d: %s\n", __FILE__, __LINE__, text);                                  \
		_exit(status);                                                                               \
	} while (0)

#define PLAIN_ASSERT(condition, text)                                                                        \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			PLAIN_LEAVE(PLAIN_FAILED, text);                                                     \
	} while (0)

#define PLAIN_COMPARE(a, operation, b) PLAIN_ASSERT((a)operation(b), #a " " #operation " " #b)

#define cr_assert(condition, ...) PLAIN_ASSERT(condition, #condition)
#define cr_assert_not(condition, ...) PLAIN_ASSERT(!(condition), "not " #condition)
#define cr_assert_null(pointer, ...) PLAIN_ASSERT((pointer) == NULL, #pointer " is NULL")
#define cr_assert_not_null(pointer, ...) PLAIN_ASSERT((pointer) != NULL, #pointer " is not NULL")
#define cr_assert_eq(a, b, ...) PLAIN_COMPARE(a, ==, b)
#define cr_assert_neq(a, b, ...) PLAIN_COMPARE(a, !=, b)
#define cr_assert_lt(a, b, ...) PLAIN_COMPARE(a, <, b)
#define cr_assert_leq(a, b, ...) PLAIN_COMPARE(a, <=, b)
#define cr_assert_gt(a, b, ...) PLAIN_COMPARE(a, >, b)
#define cr_assert_geq(a, b, ...) PLAIN_COMPARE(a, >=, b)
#define cr_assert_str_eq(a, b, ...) PLAIN_ASSERT(strcmp(a, b) == 0, #a " equals " #b)
#define cr_skip_test(...) _exit(PLAIN_SKIPPED)

#endif
