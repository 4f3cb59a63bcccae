// SPDX-License-Identifier: MIT
// The user's name, for the default directory. Called by settings, startup context.
// The rule: one read of one file, and what is not plain is answered by the number.
#include "shim/user.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"

#define PASSWD_MAX (16u << 20)

static char *passwd_read(struct pft_arena *arena)
{
	struct stat found = {0};
	char *text = NULL;
	long used = 0, got = 0;
	int fd = (int)pft_sys_openat(AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	if (pft_sys_fstat(fd, &found) == 0 && found.st_size > 0 && found.st_size < PASSWD_MAX)
		text = pft_arena_alloc(arena, (size_t)found.st_size + 1);
	while (text && used < found.st_size &&
		(got = pft_sys_read(fd, text + used, (size_t)(found.st_size - used))) > 0)
		used += got;
	pft_sys_close(fd);
	return text;
}

// name:password:uid:gid:...
static const char *line_name(char *line, const char *uid)
{
	char *password = strchr(line, ':');
	char *number = password ? strchr(password + 1, ':') : NULL;
	char *end = number ? strchr(number + 1, ':') : NULL;

	if (!end)
		return NULL;
	*password = *end = '\0';
	return strcmp(number + 1, uid) == 0 ? line : NULL;
}

static bool name_is_plain(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < 128;
}

const char *pft_user_name(struct pft_arena *arena)
{
	char uid[16];
	struct pft_text number = pft_text_in(uid, sizeof(uid));
	char *line = passwd_read(arena);

	pft_text_add_number(&number, pft_sys_geteuid());
	while (line) {
		char *next = strchr(line, '\n');
		const char *name;

		if (next)
			*next++ = '\0';
		name = line_name(line, uid);
		if (name && name_is_plain(name))
			return name;
		line = next;
	}
	return pft_arena_copy(arena, uid, number.used);
}
