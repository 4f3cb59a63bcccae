// SPDX-License-Identifier: MIT
// Reads back what a test has written: see reader.h. Called by unit tests.
#include "tests/unit/reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// In the library's link, protobuf-c's own allocator is the library's; the tests keep to malloc.
static void *allocate(void *unused, size_t size)
{
	(void)unused;
	return malloc(size);
}

static void release(void *unused, void *memory)
{
	(void)unused;
	free(memory);
}

static ProtobufCAllocator allocator = {.alloc = allocate, .free = release};

int pft_reader_file(void)
{
	// Inherited by the reader, which opens it through /proc.
	int fd = memfd_create("trace", 0);

	cr_assert_geq(fd, 0);
	return fd;
}

const Pft__Proto__Trace *pft_reader_packets(int fd)
{
	static Pft__Proto__Trace *trace;
	struct stat found;
	uint8_t *bytes;

	pft__proto__trace__free_unpacked(trace, &allocator);
	cr_assert_eq(fstat(fd, &found), 0);
	bytes = malloc((size_t)found.st_size + 1);
	cr_assert_not_null(bytes);
	cr_assert_eq(pread(fd, bytes, (size_t)found.st_size, 0), found.st_size);
	trace = pft__proto__trace__unpack(&allocator, (size_t)found.st_size, bytes);
	free(bytes);
	cr_assert_not_null(trace, "the packets cannot be decoded");
	return trace;
}

static const char *checker(void)
{
	const char *path = getenv("PFT_CHECK_TRACE");

	if (path)
		return path;
	path = "../shared/tools/check_trace.py";
	if (access(path, R_OK) != 0)
		cr_skip_test("set PFT_CHECK_TRACE to the path of check_trace.py");
	return path;
}

static void forget_lines(struct pft_reader_lines *lines)
{
	while (lines->count)
		free(lines->line[--lines->count]);
}

static void read_lines(FILE *pipe, struct pft_reader_lines *lines)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, pipe) >= 0) {
		cr_assert_lt(lines->count, sizeof lines->line / sizeof lines->line[0]);
		line[strcspn(line, "\n")] = '\0';
		lines->line[lines->count++] = strdup(line);
	}
	free(line);
}

// The lines that a Python program says of the file; the test fails when it ends with an error.
static const struct pft_reader_lines *lines_of(const char *program, int fd)
{
	static struct pft_reader_lines lines;
	char command[1024];
	FILE *pipe;

	forget_lines(&lines);
	snprintf(command, sizeof command, "python3 -B %s /proc/self/fd/%d", program, fd);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	read_lines(pipe, &lines);
	cr_assert_eq(pclose(pipe), 0, "%s found errors", program);
	return &lines;
}

const struct pft_reader_lines *pft_reader_slices(int fd)
{
	char program[512];

	snprintf(program, sizeof program, "'%s' --slices", checker());
	return lines_of(program, fd);
}

const struct pft_reader_lines *pft_reader_chrome(int fd)
{
	return lines_of("tests/run/chrome.py", fd);
}

int pft_reader_says(const struct pft_reader_lines *lines, size_t index, const char *text)
{
	return index < lines->count && strstr(lines->line[index], text) != NULL;
}
