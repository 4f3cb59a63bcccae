// SPDX-License-Identifier: MIT
// Unit tests of encoder/merge/hosts.c and tar.c: names, and an archive byte by byte. Run by Criterion.
#include "encoder/merge/hosts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/reader.h"

#define MINUTE INT64_C(60000000000)

static struct pft_member member(const char *path, const char *machine, int64_t wall_ns)
{
	return (struct pft_member){
		.path = path, .machine = (char *)machine, .has_wall = wall_ns != 0, .wall_ns = wall_ns};
}

static void names(const struct pft_member *members, uint32_t count, const char *const *wanted)
{
	struct pft_packed files[8] = {0};

	for (uint32_t i = 0; i < count; i++)
		files[i].member = &members[i];
	pft_hosts_name(files, count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_str_eq(files[i].name, wanted[i]);
}

Test(merge_hosts, names_files_after_their_machine)
{
	const struct pft_member members[] = {member("/a/xz.1.pftrace", "one", 1),
		member("xz.1.pftrace", "two", 1), member("b.pftrace", NULL, 0)};

	names(members, 3, (const char *const[]){"one/xz.1.pftrace", "two/xz.1.pftrace", "b.pftrace"});
}

Test(merge_hosts, numbers_what_would_have_one_name)
{
	const struct pft_member members[] = {member("a/x", "h", 1), member("b/x", "h", 1),
		member("c/x", "h", 1), member("perfetto_manifest.json", NULL, 0)};

	names(members, 4, (const char *const[]){"h/x", "h/1.x", "h/2.x", "1.perfetto_manifest.json"});
}

Test(merge_hosts, takes_each_life_of_a_machine_for_a_machine)
{
	const struct pft_member members[] = {member("a", "h", MINUTE), member("b", "h", 9 * MINUTE),
		member("c", "h", MINUTE + 1), member("d", "h", 20 * MINUTE),
		member("e", "h", 9 * MINUTE - 1)};

	names(members, 5, (const char *const[]){"h/a", "h, boot 2/b", "h/c", "h, boot 3/d", "h, boot 2/e"});
}

Test(merge_hosts, names_are_plain_and_short)
{
	static char path[300], wanted[100];
	struct pft_member odd = member("d/\"\xff\n\\x", "a/b", 1), long_one = {.path = path};

	names(&odd, 1, (const char *const[]){"a_b/____x"});
	memset(path, 'x', sizeof path - 9);
	strcpy(path + sizeof path - 9, ".pftrace");
	memset(wanted, 'x', 91);
	strcpy(wanted + 91, ".pftrace");
	names(&long_one, 1, (const char *const[]){wanted});
}

Test(merge_hosts, an_archive_is_blocks_of_512_bytes)
{
	static uint8_t found[8192];
	const struct pft_member m = member("a", NULL, 0);
	const struct pft_packed file = {.member = &m, .size = 3, .name = "a"};
	int output = pft_reader_file(), input = pft_reader_file();
	struct pft_sink sink = pft_sink_open(output);
	unsigned sum = 0;

	cr_assert_eq(write(input, "abcdef", 6), 6);
	cr_assert_eq(lseek(input, 0, SEEK_SET), 0);
	cr_assert_eq(pft_hosts_add(&sink, &file, input), 0);
	pft_tar_close(&sink);
	cr_assert_eq(pft_sink_close(&sink), 0);
	cr_assert_eq(pread(output, found, sizeof found, 0), 4 * 512);
	cr_assert_str_eq((char *)found, "a");
	cr_assert_str_eq((char *)found + 100, "0000600");
	cr_assert_str_eq((char *)found + 124, "00000000003");
	cr_assert_eq(memcmp(found + 257, "ustar\00000", 8), 0);
	for (int i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : found[i];
	cr_assert_eq(strtoul((char *)found + 148, NULL, 8), sum);
	cr_assert_eq(memcmp(found + 512, "abc\0", 4), 0);
}

Test(merge_hosts, says_that_a_file_became_shorter)
{
	const struct pft_member m = member("a", NULL, 0);
	const struct pft_packed file = {.member = &m, .size = 3, .name = "a"};
	struct pft_sink sink = pft_sink_open(pft_reader_file());

	cr_assert_eq(pft_hosts_add(&sink, &file, pft_reader_file()), -EIO);
	pft_sink_close(&sink);
}

Test(merge_hosts, a_manifest_is_json_whatever_a_machine_is_called)
{
	static char found[2048];
	const struct pft_member m = member("a", "\"\n", 1);
	struct pft_packed file = {.member = &m};
	int output = pft_reader_file();
	struct pft_sink sink = pft_sink_open(output);

	pft_hosts_name(&file, 1);
	pft_hosts_manifest(&sink, &file, 1);
	cr_assert_eq(pft_sink_close(&sink), 0);
	cr_assert_eq(pread(output, found, sizeof found, 0), 1024);
	cr_assert_str_eq(found + 512,
		"{\"perfetto_manifest\":{\"version\":1,"
		"\"trace_time\":{\"clock\":\"REALTIME\",\"file\":\"__/a\"},\"files\":[\n"
		"{\"path\":\"__/a\",\"machine\":{\"name\":\"\\\"\\u000a\"}}\n]}}\n");
}
