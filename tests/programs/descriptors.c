// SPDX-License-Identifier: MIT
// The program's descriptors are its own: they have their usual numbers, and it may close all of them.
// build: -lcalls -D_GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void storm(void)
{
	for (int i = 0; i < 3000; i++)
		outer(i);
	usleep(150000);
}

static void list(void)
{
	DIR *directory = opendir("/proc/self/fd");

	for (struct dirent *entry; (entry = readdir(directory));)
		if (entry->d_name[0] != '.')
			printf("%s ", entry->d_name);
	puts("");
	closedir(directory);
}

static void close_all_but_three(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

// Lowest number first (POSIX), so the numbers say whether somebody else holds one.
static void open_ones_own(void)
{
	int fd[4];

	for (int i = 0; i < 4; i++) {
		fd[i] = open("/dev/null", O_RDWR);
		printf("opened %d\n", fd[i]);
	}
	storm();
	for (int i = 0; i < 4; i++) {
		MUST(lseek(fd[i], 0, SEEK_CUR) == 0);
		MUST(close(fd[i]) == 0);
	}
}

// A file of its own under each number that there may be: not a byte of anybody else's comes into it.
static void replace_all(int file)
{
	struct stat found;

	for (int fd = 3; fd < 1024; fd++)
		MUST(fd == file || dup2(file, fd) == fd);
	storm();
	MUST(fstat(file, &found) == 0 && found.st_size == 4);
	close_range(3, ~0u, 0);
}

static void replace(void)
{
	FILE *file = tmpfile();
	int fd = fcntl(fileno(file), F_DUPFD, 900);

	MUST(write(fd, "mine", 4) == 4);
	fclose(file);
	replace_all(fd);
	list();
	storm();
	closefrom(3);
	storm();
	list();
}

static int without_any(void)
{
	fflush(stdout);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	storm();
	if (open("/dev/null", O_RDWR) != 0)
		_exit(1);
	storm();
	return 7;
}

int main(void)
{
	list();
	storm();
	list();
	close_all_but_three();
	list();
	open_ones_own();
	list();
	replace();
	return without_any();
}
