// SPDX-License-Identifier: MIT
// The directories and the file of a run. Called at startup and at the start of a forked child.
// The rule: nothing is made by a whole path. Each directory is opened below the one before it and looked at
// through its descriptor, so what was checked is what is used.
#include "shim/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "encoder/base/segment.h"
#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/log.h"

// O_PATH: a directory on the way need not be readable.
#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
// Of 255 that a file name may have: leaves room for a number and the ending.
#define PROCESS_BYTES 224
#define SAME_NAME_MAX 100000

// A way down through directories: how far it has come, for the message when it ends.
struct walk {
	struct pft_text path;
	const char *wrong; // where the error number does not say it
	uid_t user;
};

// ---- names ------------------------------------------------------------------------------------------

// What a user or a program's file is called may hold anything; "." and ".." must not come out of it.
static void name_clean(char *name)
{
	if (name[0] == '.')
		name[0] = '_';
	for (; *name; name++)
		if (*name == '/' || (unsigned char)*name < ' ' || *name == 0x7f)
			*name = '_';
}

static uint64_t random_bits(void)
{
	struct timespec now = {0, 0};
	uint64_t bits;

	if (pft_sys_getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == sizeof(bits))
		return bits;
	pft_sys_clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
}

static bool year_is_leap(unsigned year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned month_days(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month] + (month == 1 && year_is_leap(year));
}

// YYYYMMDD-HHMMSS in UTC, so that names sort by time. Not gmtime_r: it takes the locale's lock.
static void time_add(struct pft_text *text, uint64_t seconds)
{
	uint64_t day = seconds / 86400, second = seconds % 86400;
	unsigned year = 1970, month = 0;

	for (; day >= 365u + year_is_leap(year); year++)
		day -= 365u + year_is_leap(year);
	for (; day >= month_days(year, month); month++)
		day -= month_days(year, month);
	pft_text_add_padded(text, year, 4);
	pft_text_add_padded(text, month + 1, 2);
	pft_text_add_padded(text, day + 1, 2);
	pft_text_add(text, "-");
	pft_text_add_padded(text, second / 3600, 2);
	pft_text_add_padded(text, second / 60 % 60, 2);
	pft_text_add_padded(text, second % 60, 2);
}

void pft_place_add_execution(struct pft_text *text, uint64_t seconds, uint32_t pid, uint32_t chance)
{
	time_add(text, seconds);
	pft_text_add(text, "-");
	pft_text_add_number(text, pid);
	pft_text_add(text, "-");
	pft_text_add_hex(text, chance);
}

static void execution_name(struct pft_place *place, const char *given)
{
	struct pft_text text = pft_text_in(place->execution, sizeof(place->execution));
	struct timespec now = {0, 0};

	if (given && *given) {
		if (strcmp(given, "latest") == 0)
			pft_text_add(&text, "_"); // that name is the link's
		pft_text_add(&text, given);
		name_clean(place->execution);
		return;
	}
	pft_sys_clock_gettime(CLOCK_REALTIME, &now);
	pft_place_add_execution(
		&text, (uint64_t)now.tv_sec, (uint32_t)pft_sys_getpid(), (uint32_t)random_bits());
}

// `number` tells processes of one name apart; the first has none.
static void process_name(struct pft_place *place, const char *given, const char *program, unsigned number)
{
	struct pft_text text = pft_text_in(place->process, PROCESS_BYTES);

	if (given && *given) {
		pft_text_add(&text, given);
	} else {
		pft_text_add_bytes(&text, program, strnlen(program, PROCESS_BYTES - 16));
		pft_text_add(&text, ".");
		pft_text_add_number(&text, (uint64_t)pft_sys_getpid());
	}
	name_clean(place->process);
	if (number == 0)
		return;
	text.size = sizeof(place->process);
	pft_text_add(&text, ".");
	pft_text_add_number(&text, number);
}

// ---- directories ------------------------------------------------------------------------------------

static int walk_step(struct walk *walk, const char *name, size_t length)
{
	pft_text_add(&walk->path, "/");
	pft_text_add_bytes(&walk->path, name, length);
	return walk->path.cut ? -ENAMETOOLONG : 0;
}

// Where anybody may make entries (/tmp), only our own and root's are trusted: another user could have
// made this one to catch us, or to point us elsewhere.
static int entry_check(struct walk *walk, int parent, const char *name)
{
	struct stat above = {0}, entry = {0};
	long result = pft_sys_fstat(parent, &above);

	if (result != 0 || !(above.st_mode & S_IWOTH))
		return (int)result;
	result = pft_sys_fstatat(parent, name, &entry, AT_SYMLINK_NOFOLLOW);
	if (result != 0)
		return (int)result;
	if (entry.st_uid == walk->user || entry.st_uid == 0)
		return 0;
	walk->wrong = "belongs to another user, in a directory that everybody may write to";
	return -EPERM;
}

// A part of the path that the user gave: made when it is not there, symbolic links are followed.
static int given_open(struct walk *walk, int parent, const char *name)
{
	int made = (int)pft_sys_mkdirat(parent, name, 0700);
	int result = entry_check(walk, parent, name);

	if (result == 0)
		result = (int)pft_sys_openat(parent, name, DIRECTORY_FLAGS, 0);
	return result == -ENOENT && made != -EEXIST ? made : result;
}

// A directory of ours: no link, and nobody else's.
static int own_open(struct walk *walk, int parent, const char *name)
{
	struct stat found = {0};
	int fd = (int)pft_sys_openat(parent, name, DIRECTORY_FLAGS | O_NOFOLLOW, 0);
	int result;

	if (fd < 0)
		return fd;
	result = (int)pft_sys_fstat(fd, &found);
	if (result == 0 && found.st_uid == walk->user)
		return fd;
	if (result == 0)
		walk->wrong = "belongs to another user";
	pft_sys_close(fd);
	return result ? result : -EPERM;
}

// `made` tells whether it was not there before.
static int own_make(struct walk *walk, int parent, const char *name, bool *made)
{
	int result = walk_step(walk, name, strlen(name));

	if (result != 0)
		return result;
	result = (int)pft_sys_mkdirat(parent, name, 0700);
	if (result != 0 && result != -EEXIST)
		return result;
	*made = result == 0;
	return own_open(walk, parent, name);
}

static int given_step(struct walk *walk, int parent, const char *part, size_t length)
{
	char name[NAME_MAX + 1];
	struct pft_text text = pft_text_in(name, sizeof(name));
	int result = walk_step(walk, part, length);

	pft_text_add_bytes(&text, part, length);
	if (result == 0 && text.cut)
		result = -ENAMETOOLONG;
	return result ? result : given_open(walk, parent, name);
}

// The directory that the user gave, or -errno.
static int base_open(struct walk *walk, const char *directory)
{
	int fd = (int)pft_sys_openat(AT_FDCWD, "/", DIRECTORY_FLAGS, 0);

	while (fd >= 0) {
		int parent = fd;
		size_t length;

		while (*directory == '/')
			directory++;
		length = (size_t)(strchrnul(directory, '/') - directory);
		if (length == 0)
			break;
		fd = given_step(walk, parent, directory, length);
		directory += length;
		pft_sys_close(parent);
	}
	return fd;
}

// ---- files ------------------------------------------------------------------------------------------

// A link is made under a name that is nobody's and then moved over the old one, so `latest` always leads
// somewhere. It is a convenience: failing is told only to who asks.
static void latest_point(struct pft_place *place, int executions)
{
	char name[48];
	struct pft_text text = pft_text_in(name, sizeof(name));
	long result;

	pft_text_add(&text, ".latest.");
	pft_text_add_hex(&text, random_bits());
	result = pft_sys_symlinkat(place->execution, executions, name);
	if (result == 0) {
		result = pft_sys_renameat(executions, name, executions, "latest");
		if (result != 0)
			pft_sys_unlinkat(executions, name, 0);
	}
	if (result != 0)
		pft_log_verbose("executions/latest: ", pft_log_reason(result), NULL);
}

static int file_path(char *path, const struct pft_place *place, uint32_t segment, const char *ending)
{
	struct pft_text text = pft_text_in(path, PFT_PATH_MAX);

	pft_text_add(&text, place->directory);
	pft_text_add(&text, "/");
	pft_text_add(&text, place->process);
	pft_segment_add(&text, segment);
	pft_text_add(&text, ending);
	return text.cut ? -ENAMETOOLONG : 0;
}

static const char *const endings[PFT_FILES] = {
	[PFT_FILE_TRACE] = ".pftrace",
	[PFT_FILE_JSON] = ".json",
	[PFT_FILE_REPORT_TEXT] = ".report.txt",
	[PFT_FILE_REPORT_JSON] = ".report.json",
	[PFT_FILE_REPORT_CHROME] = ".report.trace.json",
	[PFT_FILE_REPORT_FOLDED] = ".report.folded",
};

int pft_place_path(const struct pft_place *place, int file, uint32_t segment, char path[PFT_PATH_MAX])
{
	return file_path(path, place, file < PFT_FILES_SEGMENTED ? segment : 1, endings[file]);
}

// Creates the file that `path` ends in.
static int file_create(const char *path, int directory)
{
	const char *name = strrchr(path, '/') + 1;
	int fd = (int)pft_sys_openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return fd;
	pft_sys_close(fd);
	return 0;
}

static bool is_wanted(const struct pft_place *place, int file)
{
	return place->wanted & PFT_FILE_BIT(file);
}

// A process that was killed and whose trace was removed may have left its link, and anybody may plant one.
static bool link_is_taken(const struct pft_place *place, int directory)
{
	struct stat found;

	return pft_sys_fstatat(
		       directory, strrchr(place->session_link, '/') + 1, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

// All or none.
static int files_create(const struct pft_place *place, int directory)
{
	int result = link_is_taken(place, directory) ? -EEXIST : 0;

	for (int file = 0; result == 0 && file < PFT_FILES; file++) {
		if (is_wanted(place, file))
			result = file_create(place->paths[file], directory);
		if (result == 0)
			continue;
		while (file-- > 0)
			if (is_wanted(place, file))
				pft_sys_unlinkat(directory, strrchr(place->paths[file], '/') + 1, 0);
		break;
	}
	return result;
}

static int name_files(struct pft_place *place)
{
	int result = file_path(place->session_link, place, 1, ".session");

	for (int file = 0; result == 0 && file < PFT_FILES; file++)
		result = pft_place_path(place, file, 1, place->paths[file]);
	return result;
}

static int files_reserve(struct pft_place *place, int directory, const char *process, const char *program)
{
	int result = -EEXIST;

	for (unsigned number = 0; result == -EEXIST && number < SAME_NAME_MAX; number++) {
		process_name(place, process, program, number);
		result = name_files(place);
		if (result == 0)
			result = files_create(place, directory);
	}
	return result;
}

// ---- all of it --------------------------------------------------------------------------------------

// The execution's directory, or -errno.
static int execution_open(struct pft_place *place, struct walk *walk, int base)
{
	bool made = false;
	int executions = own_make(walk, base, "executions", &made);
	int fd;

	if (executions < 0)
		return executions;
	fd = own_make(walk, executions, place->execution, &made);
	// Only who makes the directory is the newest execution's first process.
	if (fd >= 0 && made)
		latest_point(place, executions);
	pft_sys_close(executions);
	return fd;
}

static int place_fill(struct pft_place *place, struct walk *walk, const char *directory, const char *process,
	const char *program)
{
	int base = base_open(walk, directory);
	int execution, result;

	if (base < 0)
		return base;
	execution = execution_open(place, walk, base);
	pft_sys_close(base);
	if (execution < 0)
		return execution;
	result = files_reserve(place, execution, process, program);
	pft_sys_close(execution);
	return result;
}

// What matters most comes first: the paths may be longer than a line.
static void refusal_say(
	const struct pft_place *place, const struct walk *walk, const char *directory, int error)
{
	char quoted[256];
	struct pft_text text = pft_text_in(quoted, sizeof(quoted));

	pft_text_add(&text, directory);
	pft_log_say("PFT_TRACE_DIR=", quoted, text.cut ? "..." : "",
		" cannot be used; accepted: a directory that may be made and written to; this program is not "
		"traced: ",
		walk->wrong ? walk->wrong : pft_log_reason(error), ": ", place->directory, NULL);
}

int pft_place_make(struct pft_place *place, const char *directory, const char *execution, const char *process,
	const char *program)
{
	struct walk walk = {
		.path = pft_text_in(place->directory, sizeof(place->directory)), .user = pft_sys_geteuid()};
	int result;

	execution_name(place, execution);
	result = place_fill(place, &walk, directory, process, program);
	if (result != 0)
		refusal_say(place, &walk, directory, result);
	return result;
}

// A pipe, which has come to stand where the file was, would hold us up: O_NONBLOCK.
static int file_open(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int fd = (int)pft_sys_openat(AT_FDCWD, path, flags, 0);
	struct stat found = {0};

	if (fd == -ENXIO)
		return -ESTALE;
	if (fd < 0 || (pft_sys_fstat(fd, &found) == 0 && S_ISREG(found.st_mode)))
		return fd;
	pft_sys_close(fd);
	return -ESTALE;
}

// Up to the first that fails: then the others are open still.
static int open_each(const struct pft_place *place, uint32_t segment, int count, int (*open)(const char *),
	struct pft_files *files)
{
	char path[PFT_PATH_MAX];
	int result = 0;

	pft_files_clear(files);
	for (int file = 0; result >= 0 && file < count; file++) {
		if (!is_wanted(place, file))
			continue;
		result = pft_place_path(place, file, segment, path);
		if (result == 0)
			result = open(path);
		if (result >= 0)
			files->fds[file] = result;
	}
	return result < 0 ? result : 0;
}

int pft_place_open(const struct pft_place *place, uint32_t segment, struct pft_files *files)
{
	int error = open_each(place, segment, PFT_FILES, file_open, files);

	if (error)
		pft_files_close(files);
	return error;
}

static int file_make(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC;

	return (int)pft_sys_openat(AT_FDCWD, path, flags, 0600);
}

int pft_place_create(const struct pft_place *place, uint32_t segment, struct pft_files *files)
{
	char path[PFT_PATH_MAX];
	int error = open_each(place, segment, PFT_FILES_SEGMENTED, file_make, files);

	if (!error)
		return 0;
	for (int file = 0; file < PFT_FILES_SEGMENTED; file++)
		if (files->fds[file] >= 0 && pft_place_path(place, file, segment, path) == 0)
			pft_sys1(SYS_unlink, path);
	pft_files_close(files);
	return error;
}

void pft_files_clear(struct pft_files *files)
{
	for (int file = 0; file < PFT_FILES; file++)
		files->fds[file] = -1;
}

bool pft_files_are_open(const struct pft_files *files)
{
	for (int file = 0; file < PFT_FILES; file++)
		if (files->fds[file] >= 0)
			return true;
	return false;
}

void pft_files_close(struct pft_files *files)
{
	for (int file = 0; file < PFT_FILES; file++)
		if (files->fds[file] >= 0)
			pft_sys_close(files->fds[file]);
	pft_files_clear(files);
}

void pft_place_undo(const struct pft_place *place)
{
	for (int file = 0; file < PFT_FILES; file++)
		if (is_wanted(place, file))
			pft_sys1(SYS_unlink, place->paths[file]);
}
