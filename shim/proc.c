// SPDX-License-Identifier: MIT
// Reads /proc: see proc.h. Startup context, and hot in a forked child.
#include "shim/proc.h"

#include <fcntl.h>
#include <string.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"

int pft_proc_open(uint32_t pid, const char *file)
{
	char path[48];
	struct pft_text text = pft_text_in(path, sizeof(path));

	pft_text_add(&text, "/proc/");
	if (pid)
		pft_text_add_number(&text, pid);
	else
		pft_text_add(&text, "self");
	pft_text_add(&text, file);
	return (int)pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

size_t pft_proc_read(uint32_t pid, const char *file, char *buffer, size_t size)
{
	int fd = pft_proc_open(pid, file);
	long bytes = fd < 0 ? 0 : pft_sys_read(fd, buffer, size - 1);

	if (fd >= 0)
		pft_sys_close(fd);
	buffer[bytes > 0 ? bytes : 0] = '\0';
	return bytes > 0 ? (size_t)bytes : 0;
}

uint64_t pft_proc_number(const char *at)
{
	uint64_t number = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

// Counted behind the name, which may hold anything.
uint64_t pft_proc_stat(uint32_t pid, enum pft_proc_field field)
{
	char buffer[512];
	const char *at = pft_proc_read(pid, "/stat", buffer, sizeof(buffer)) ? strrchr(buffer, ')') : NULL;

	for (unsigned i = 2; at && i < (unsigned)field; i++)
		at = strchr(at + 1, ' ');
	return pft_proc_number(at ? at + 1 : NULL);
}
