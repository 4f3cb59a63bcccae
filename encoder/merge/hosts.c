// SPDX-License-Identifier: MIT
// Names, the manifest and the contents of an archive: see hosts.h. What the manifest may say is described at
// https://perfetto.dev/docs/reference/perfetto-manifest. Machines that it names have clocks of their own,
// which viewers relate by CLOCK_REALTIME, as every trace of ours has it beside CLOCK_BOOTTIME.
#include "encoder/merge/hosts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/json_text.h"

#define MANIFEST "perfetto_manifest.json"
#define PIECE ((size_t)256 << 10)

// How much of a name its machine may take, with the slash.
#define DIRECTORY_MAX 40

// ---- machines ---------------------------------------------------------------------------------------

static const char *life_name(const char *machine, uint32_t life)
{
	char *name;

	if (asprintf(&name, life == 1 ? "%s" : "%s, boot %u", machine, life) < 0)
		return machine;
	return name;
}

// The machine of file `index`, after those of the files before it.
static const char *machine_of(const struct pft_packed *files, uint32_t index)
{
	const struct pft_member *member = files[index].member;
	uint32_t life = 1;

	if (!member->machine)
		return NULL;
	for (uint32_t i = 0; i < index; i++) {
		const struct pft_member *other = files[i].member;
		bool begins = true;

		if (!other->machine || strcmp(other->machine, member->machine) != 0)
			continue;
		if (pft_member_is_of_boot(other, member))
			return files[i].machine;
		for (uint32_t j = 0; j < i; j++)
			begins &= files[j].machine != files[i].machine;
		life += begins;
	}
	return life_name(member->machine, life);
}

// ---- names ------------------------------------------------------------------------------------------

// What every reader takes, and means the same in JSON.
static char plain(char c)
{
	static const char odd[] = ".,_-+@ ";
	bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c && strchr(odd, c));

	return good ? c : '_';
}

static void add_plain(char *name, size_t room, const char *text)
{
	size_t used = strlen(name);

	for (; *text && used + 1 < room; text++)
		name[used++] = plain(*text);
	name[used] = '\0';
}

// The end of a path's last part, where ending and pid are, in what room is left.
static const char *tail_of(const char *path, size_t room)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	size_t size = strlen(last);

	return size < room ? last : last + size + 1 - room;
}

static void set_name(struct pft_packed *file, uint32_t number)
{
	size_t used = 0;

	file->name[0] = '\0';
	if (file->machine) {
		add_plain(file->name, DIRECTORY_MAX, file->machine);
		used = strlen(file->name);
		file->name[used++] = '/';
		file->name[used] = '\0';
	}
	if (number)
		snprintf(file->name + used, sizeof file->name - used, "%u.", number);
	add_plain(file->name, sizeof file->name,
		tail_of(file->member->path, sizeof file->name - strlen(file->name)));
}

static bool is_taken(const struct pft_packed *files, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(files[i].name, files[index].name) == 0)
			return true;
	return strcmp(files[index].name, MANIFEST) == 0;
}

void pft_hosts_name(struct pft_packed *files, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = 0;

		files[i].machine = machine_of(files, i);
		do
			set_name(&files[i], number++);
		while (is_taken(files, i));
	}
}

// ---- contents ---------------------------------------------------------------------------------------

static void print_string(FILE *to, const char *string)
{
	static char room[PFT_JSON_STRING_MAX + 1];
	struct pft_text text = pft_text_in(room, sizeof room);

	pft_json_add_string(&text, string);
	fputs(room, to);
}

static void print_file(FILE *to, const struct pft_packed *file)
{
	fputs("{\"path\":", to);
	print_string(to, file->name);
	if (file->machine) {
		fputs(",\"machine\":{\"name\":", to);
		print_string(to, file->machine);
		fputs("}", to);
	}
	fputs("}", to);
}

// The wall clock is the only one that all machines share, and no event is before its beginning.
static void print_manifest(FILE *to, const struct pft_packed *files, uint32_t count)
{
	uint32_t timed = 0;

	while (timed < count && !files[timed].member->has_wall)
		timed++;
	fputs("{\"perfetto_manifest\":{\"version\":1,", to);
	if (timed < count) {
		fputs("\"trace_time\":{\"clock\":\"REALTIME\",\"file\":", to);
		print_string(to, files[timed].name);
		fputs("},", to);
	}
	fputs("\"files\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", to);
		print_file(to, &files[i]);
	}
	fputs("\n]}}\n", to);
}

void pft_hosts_manifest(struct pft_sink *sink, const struct pft_packed *files, uint32_t count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (to) {
		print_manifest(to, files, count);
		fclose(to);
	}
	if (!text) {
		sink->error = -ENOMEM;
		return;
	}
	pft_tar_begin(sink, MANIFEST, size);
	pft_sink_put(sink, text, size);
	pft_tar_end(sink, size);
	free(text);
}

int pft_hosts_add(struct pft_sink *sink, const struct pft_packed *file, int fd)
{
	pft_tar_begin(sink, file->name, file->size);
	for (uint64_t left = file->size; left && !sink->error;) {
		size_t most = left < PIECE ? (size_t)left : PIECE;
		ssize_t count = read(fd, pft_sink_reserve(sink, most), most);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count ? -errno : -EIO;
		pft_sink_commit(sink, (size_t)count);
		left -= (uint64_t)count;
	}
	pft_tar_end(sink, file->size);
	return 0;
}
