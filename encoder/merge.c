// SPDX-License-Identifier: MIT
// pft-merge [-o FILE] [--force] [--tar] DIRECTORY | TRACE...: one trace of an execution, or of the traces
// that are given; or an archive of them, for several machines. Called by `pft merge`. A program of its own.
// The rule: inputs are only read, and what does not belong together is refused before anything is written.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/fail.h"
#include "encoder/inputs.h"
#include "encoder/merge/hosts.h"
#include "encoder/merge/join.h"
#include "encoder/merge/member.h"
#include "encoder/merge/sink.h"
#include "encoder/merge/tar.h"
#include "encoder/output.h"
#include "encoder/read/memory.h"
#include "encoder/recover/paths.h"
#include "encoder/recover/whole.h"
#include "encoder/terminal/progress.h"

#define SINGLE_DEFAULT "merged"

static struct pft_member *members;
static struct stat *files; // theirs, in the order in which they were given
static uint32_t count, room;

// ---- inputs -----------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void say(const char *path, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "pft: %s: ", path);
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	va_end(arguments);
}

static void say_cut(const char *path, uint64_t bytes)
{
	say(path, "ends in the middle of a packet; its last %llu bytes are left out",
		(unsigned long long)bytes);
}

static int open_member(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	return fd;
}

static void add_member(const char *path, const struct stat *found)
{
	for (uint32_t i = 0; i < count; i++)
		if (pft_path_is_same(&files[i], found))
			pft_fail(PFT_REFUSED, "%s: is given twice", path);
	if (count == room) {
		room = room ? 2 * room : 16;
		members = pft_read_resize(members, room * sizeof *members);
		files = pft_read_resize(files, room * sizeof *files);
	}
	files[count] = *found;
	members[count++] = (struct pft_member){.path = path};
}

// What a process is still to write, or never will, may be in its session.
static void look_for_session(const char *path)
{
	struct stat found;
	char link[PATH_MAX];

	if (pft_path_swap(link, sizeof link, path, PFT_TRACE_ENDING, PFT_LINK_ENDING) &&
		lstat(link, &found) == 0)
		say(path, "is not complete: its process still runs, or pft recover completes it");
}

// The output may have been made there before.
static bool add_beside(void *output, const char *path, const struct stat *found)
{
	if (pft_path_is_same(found, output))
		return false;
	look_for_session(path);
	if (found->st_size == 0) {
		say(path, "is empty and left out");
		return false;
	}
	add_member(path, found);
	return true;
}

static void add_input(const char *path, struct stat *output)
{
	struct stat found;

	if (pft_inputs_is_directory(path)) {
		pft_inputs_of(path, add_beside, output);
		return;
	}
	if (stat(path, &found) != 0)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	look_for_session(path);
	add_member(path, &found);
}

static void look_at_all(void)
{
	for (uint32_t i = 0; i < count; i++) {
		int fd = open_member(members[i].path);
		const char *wrong = pft_member_look(&members[i], fd);

		close(fd);
		if (wrong)
			pft_fail(PFT_REFUSED, "%s: %s", members[i].path, wrong);
	}
}

// ---- one trace --------------------------------------------------------------------------------------

static void refuse_odd(const struct pft_member *odd, const struct pft_member *first)
{
	if (odd->version && first->version && strcmp(odd->version, first->version) != 0)
		pft_fail(PFT_REFUSED,
			"%s: was recorded by version %s of pftshim, %s by %s; --tar keeps them apart",
			odd->path, odd->version, first->path, first->version);
	if (odd->machine && first->machine && strcmp(odd->machine, first->machine) != 0)
		pft_fail(PFT_REFUSED, "%s: was recorded on %s, %s on %s; --tar keeps machines apart",
			odd->path, odd->machine, first->path, first->machine);
	if (!pft_member_is_of_boot(odd, first))
		pft_fail(PFT_REFUSED,
			"%s: the machine was started anew between it and %s; --tar lines them up", odd->path,
			first->path);
}

// Those that say the same of one kind need not say anything of another, so all pairs count.
static void refuse_what_does_not_belong(void)
{
	const struct pft_member *with[3] = {NULL};

	for (uint32_t i = 0; i < count; i++) {
		const bool says[] = {members[i].version, members[i].machine, members[i].has_wall};

		for (int kind = 0; kind < 3; kind++) {
			if (says[kind] && with[kind])
				refuse_odd(&members[i], with[kind]);
			else if (says[kind])
				with[kind] = &members[i];
		}
	}
}

// By when they began: segments of a process follow each other, and so do readings of clocks. Those that do
// not say when come last.
static int compare(const void *one, const void *other)
{
	const struct pft_member *a = one, *b = other;

	if (a->has_boot != b->has_boot)
		return a->has_boot ? -1 : 1;
	if (a->has_boot && a->boot_ns != b->boot_ns)
		return a->boot_ns < b->boot_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void join_member(struct pft_join *join, const struct pft_member *member)
{
	int fd = open_member(member->path);
	struct pft_joined joined;

	pft_progress_start_file("merging", member->path, fd);
	joined = pft_join_member(join, fd, member->process, member->segment);
	pft_progress_end();
	close(fd);
	if (joined.wrong)
		pft_fail(PFT_REFUSED, "%s: %s", member->path, joined.wrong);
	if (joined.other)
		pft_fail(PFT_REFUSED, "%s: names another track as %s does; --tar keeps them apart",
			member->path, members[joined.other - 1].path);
	if (joined.cut_bytes)
		say_cut(member->path, joined.cut_bytes);
}

static void write_trace(struct pft_sink *sink)
{
	struct pft_join join = pft_join_open(sink);

	for (uint32_t i = 0; i < count && !sink->error; i++)
		join_member(&join, &members[i]);
	pft_join_close(&join);
}

// ---- an archive -------------------------------------------------------------------------------------

// How much of its file goes into the archive.
static uint64_t whole_bytes(const struct pft_member *member)
{
	int fd = open_member(member->path);
	struct stat found = {.st_size = 0};
	struct pft_whole whole;

	if (fstat(fd, &found) != 0)
		pft_fail(PFT_FAILED, "%s: %s", member->path, strerror(errno));
	whole = pft_whole_find(fd, (uint64_t)found.st_size);
	close(fd);
	if (whole.rest == PFT_REST_UNREAD)
		pft_fail(PFT_FAILED, "%s: cannot be read", member->path);
	if (whole.rest == PFT_REST_OTHER)
		pft_fail(
			PFT_REFUSED, "%s: is damaged: something in it is no packet of a trace", member->path);
	if (whole.bytes > PFT_TAR_SIZE_MAX)
		pft_fail(PFT_REFUSED, "%s: is larger than 8 GiB, which is too large for an archive",
			member->path);
	if (whole.rest == PFT_REST_CUT)
		say_cut(member->path, (uint64_t)found.st_size - whole.bytes);
	return whole.bytes;
}

static struct pft_packed *pack_all(void)
{
	struct pft_packed *packed = pft_read_alloc(count * sizeof *packed);

	for (uint32_t i = 0; i < count; i++)
		packed[i] = (struct pft_packed){.member = &members[i], .size = whole_bytes(&members[i])};
	pft_hosts_name(packed, count);
	return packed;
}

static void write_archive(struct pft_sink *sink)
{
	const struct pft_packed *packed = pack_all();

	pft_hosts_manifest(sink, packed, count);
	for (uint32_t i = 0; i < count && !sink->error; i++) {
		int fd = open_member(members[i].path);
		int error = pft_hosts_add(sink, &packed[i], fd);

		close(fd);
		if (error)
			pft_fail(PFT_FAILED, "%s: cannot be read: %s", members[i].path, strerror(-error));
	}
	pft_tar_close(sink);
}

// ---- all of it --------------------------------------------------------------------------------------

// In the working directory, named after an execution that is given alone.
static const char *default_output(char **inputs, int inputs_count, const char *ending)
{
	char *directory = inputs_count == 1 ? realpath(inputs[0], NULL) : NULL;
	struct stat found;
	char *output;
	bool is_execution = directory && stat(directory, &found) == 0 && S_ISDIR(found.st_mode);

	if (asprintf(&output, "%s%s", is_execution ? pft_path_name(directory) : SINGLE_DEFAULT, ending) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	free(directory);
	return output;
}

static void merge(const char *output, bool force, bool tar)
{
	struct pft_sink sink;
	int error;

	look_at_all();
	if (!tar) {
		refuse_what_does_not_belong();
		qsort(members, count, sizeof *members, compare);
	}
	sink = pft_sink_open(pft_output_open(output));
	if (tar)
		write_archive(&sink);
	else
		write_trace(&sink);
	error = pft_sink_close(&sink);
	if (error)
		pft_fail(PFT_FAILED, "%s: cannot be written: %s", output, strerror(-error));
	pft_output_put_in_place(output, force);
	fprintf(stderr, "pft: trace: %s\n", output);
}

int main(int argument_count, char **arguments)
{
	static const struct option options[] = {
		{"force", no_argument, NULL, 'f'}, {"tar", no_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
	const char *output = NULL;
	bool force = false, tar = false;
	struct stat present = {0};
	int option;

	opterr = 0;
	while ((option = getopt_long(argument_count, arguments, "o:", options, NULL)) >= 0) {
		if (option == 'o')
			output = optarg;
		else if (option == 'f')
			force = true;
		else if (option == 't')
			tar = true;
		else
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft merge -h",
				arguments[optind - 1]);
	}
	if (optind == argument_count)
		pft_fail(PFT_REFUSED, "no execution or trace is given; see pft merge -h");
	if (!output)
		output = default_output(
			arguments + optind, argument_count - optind, tar ? ".tar" : PFT_TRACE_ENDING);
	pft_output_check(output, force);
	if (stat(output, &present) != 0)
		present = (struct stat){0};
	for (int i = optind; i < argument_count; i++)
		add_input(arguments[i], &present);
	merge(output, force, tar);
	return 0;
}
