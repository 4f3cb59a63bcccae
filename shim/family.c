// SPDX-License-Identifier: MIT
// Finds the top of the tree: see family.h. Startup context. The rule: the name is made of what the kernel
// says of the topmost process and nothing else, so it makes no difference who asks first, or at the same
// time.
#include "shim/family.h"

#include <fcntl.h>
#include <string.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/place.h"
#include "shim/proc.h"
#include "shim/settings.h"

#define GENERATIONS 64
#define TICKS_A_SECOND 100 // of the start times in /proc

// A file that is read entry by entry, each of which ends in the same byte.
struct entries {
	int fd;
	char end;
	char piece[4096];
	size_t used, at; // of the piece
	char entry[4096]; // the present one, cut to fit
};

static bool read_piece(struct entries *entries)
{
	long bytes = pft_sys_read(entries->fd, entries->piece, sizeof(entries->piece));

	entries->used = bytes > 0 ? (size_t)bytes : 0;
	entries->at = 0;
	return bytes > 0;
}

static bool next_entry(struct entries *entries)
{
	struct pft_text text = pft_text_in(entries->entry, sizeof(entries->entry));

	while (entries->at < entries->used || read_piece(entries)) {
		const char *byte = entries->piece + entries->at++;

		if (*byte == entries->end)
			return true;
		pft_text_add_bytes(&text, byte, 1);
	}
	return false;
}

// What follows `name` in the first entry that begins with it, or NULL. It stays until the next question.
static const char *find_entry(const char *path, uint32_t pid, char end, const char *name)
{
	static struct entries entries;
	const char *value = NULL;

	entries.end = end;
	entries.used = entries.at = 0;
	entries.fd =
		pid ? pft_proc_open(pid, path) : (int)pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (entries.fd < 0)
		return NULL;
	while (!value && next_entry(&entries))
		if (strncmp(entries.entry, name, strlen(name)) == 0)
			value = entries.entry + strlen(name);
	pft_sys_close(entries.fd);
	return value;
}

static bool is_of_tree(uint32_t pid, const char *preload)
{
	const char *found = find_entry("/environ", pid, '\0', "LD_PRELOAD=");

	return found && strcmp(found, preload) == 0;
}

static uint32_t topmost(const char *preload)
{
	uint32_t top = (uint32_t)pft_sys_getpid();

	for (unsigned i = 0; i < GENERATIONS; i++) {
		uint32_t parent = (uint32_t)pft_proc_stat(top, PFT_PROC_PARENT);

		if (!parent || !is_of_tree(parent, preload))
			break;
		top = parent;
	}
	return top;
}

bool pft_family_execution(char *name, size_t size, char *const *environment)
{
	const char *preload = pft_environment_get(environment, "LD_PRELOAD");
	uint32_t top = preload ? topmost(preload) : 0;
	uint64_t ticks = top ? pft_proc_stat(top, PFT_PROC_START) : 0;
	uint64_t booted = pft_proc_number(find_entry("/proc/stat", 0, '\n', "btime "));
	struct pft_text text = pft_text_in(name, size);

	if (!ticks || !booted)
		return false;
	pft_place_add_execution(&text, booted + ticks / TICKS_A_SECOND, top, (uint32_t)ticks);
	return true;
}
