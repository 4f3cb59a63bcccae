// SPDX-License-Identifier: MIT
// Making the session's memory. Startup context, and hot in a forked child: raw system calls, static buffers.
#include "shim/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/hot/clock.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"
#include "shim/log.h"
#include "shim/relatives.h"

#define STRINGS_BYTES (16u << 20)

static char file_path[PFT_PATH_MAX];

static uint64_t pages(uint64_t bytes)
{
	return (bytes + PFT_PAGE - 1) & -(uint64_t)PFT_PAGE;
}

// Places of the parts, for so many threads. Untouched pages cost address space only.
static struct pft_session lay_out(const struct pft_settings *settings, uint32_t threads_max)
{
	const uint64_t frames = settings->stacks ? PFT_FRAMES_MAX : 0;
	struct pft_session s = {
		.magic = PFT_SESSION_MAGIC,
		.version = PFT_SESSION_VERSION,
		.ring_bytes = settings->buffer_bytes,
		.threads_max = threads_max,
		.hooks = PFT_HOOK_FIRST,
		.strings_used = 1,
		.mappings = 1,
		.frames = 1,
		.frames_max = (uint32_t)frames,
		.strings_bytes = STRINGS_BYTES,
	};

	s.hooks_at = pages(sizeof(s));
	s.strings_at = s.hooks_at + pages(PFT_HOOKS_MAX * sizeof(struct pft_session_hook));
	s.mappings_at = s.strings_at + STRINGS_BYTES;
	s.stack_heads_at = s.mappings_at + pages(PFT_MAPPINGS_MAX * sizeof(struct pft_session_mapping));
	s.frames_at = s.stack_heads_at + pages(frames ? PFT_STACK_HEADS * sizeof(uint32_t) : 0);
	s.threads_at = s.frames_at + pages(frames * sizeof(struct pft_session_frame));
	s.commit_at[0] = s.threads_at + pages(threads_max * sizeof(struct pft_session_thread));
	s.commit_bytes = pages(sizeof(struct pft_commit) + threads_max * sizeof(struct pft_commit_thread) +
			       PFT_FOREIGN_MAX * sizeof(struct pft_open_foreign));
	s.commit_at[1] = s.commit_at[0] + s.commit_bytes;
	s.rings_at = s.commit_at[1] + s.commit_bytes;
	s.bytes = s.rings_at + threads_max * s.ring_bytes;
	return s;
}

// Growing a file beyond RLIMIT_FSIZE would raise SIGXFSZ in the program (ftruncate(2)).
static bool file_may_have(uint64_t bytes)
{
	struct rlimit limit;

	return pft_sys2(SYS_getrlimit, RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= bytes;
}

static long create_in_memory_fs(void)
{
	uint32_t pid = (uint32_t)pft_sys_getpid();
	unsigned number;
	long fd = -EEXIST;

	for (number = 0; number < PFT_SESSION_NUMBERS && fd == -EEXIST; number++) {
		pft_relatives_name(file_path, sizeof(file_path), pid, number);
		fd = pft_sys_openat(
			AT_FDCWD, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	return fd;
}

static uint64_t address_space(void)
{
	struct rlimit limit;

	return pft_sys2(SYS_getrlimit, RLIMIT_AS, &limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

static long create_beside(const struct pft_place *place)
{
	struct pft_text path = pft_text_in(file_path, sizeof(file_path));

	pft_text_add(&path, place->session_link);
	return pft_sys_openat(AT_FDCWD, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

// The header, and what a first thread needs: a file system without room for that is of no use.
static bool reserve_least(char *at, const struct pft_session *layout)
{
	const uint64_t commit_bytes = sizeof(struct pft_commit) + sizeof(struct pft_commit_thread);

	return pft_pages_reserve(at, pages(sizeof(struct pft_session))) &&
	       pft_pages_reserve(at + layout->commit_at[0], commit_bytes) &&
	       pft_pages_reserve(at + layout->commit_at[1], commit_bytes) &&
	       pft_pages_reserve(at + layout->threads_at, sizeof(struct pft_session_thread)) &&
	       pft_pages_reserve(at + layout->rings_at, layout->ring_bytes);
}

static void *map_file(long fd, const struct pft_session *layout)
{
	const uint64_t bytes = layout->bytes;
	void *at = (void *)-EFBIG;

	if (fd < 0)
		return (void *)fd;
	if (file_may_have(bytes) && pft_sys2(SYS_ftruncate, fd, bytes) == 0)
		at = pft_sys_mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, (int)fd, 0);
	pft_sys_close((int)fd);
	if (!pft_sys_failed(at) && !reserve_least(at, layout)) {
		pft_sys_munmap(at, bytes);
		at = (void *)-ENOSPC;
	}
	if (pft_sys_failed(at))
		pft_sys1(SYS_unlink, file_path);
	return at;
}

static void *map_somewhere(const struct pft_session *layout, const struct pft_place *place)
{
	void *at = map_file(create_in_memory_fs(), layout);

	if (!pft_sys_failed(at)) {
		pft_sys2(SYS_symlink, file_path, place->session_link);
		return at;
	}
	at = map_file(create_beside(place), layout);
	if (!pft_sys_failed(at))
		return at;
	file_path[0] = '\0';
	at = pft_sys_mmap(NULL, layout->bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!pft_sys_failed(at))
		pft_log_say(
			"no file for the session in /dev/shm or beside the trace: events are kept in private "
			"memory and would be lost if the program were killed",
			NULL);
	return at;
}

static void fill_clocks(struct pft_session *session)
{
	struct pft_clock_reading now = pft_clock_read();

	session->boot_ns = now.boot_ns;
	session->monotonic_ns = now.monotonic_ns;
	session->real_ns = now.real_ns;
	session->start_ticks = now.ticks;
}

static void read_command_line(struct pft_session *session)
{
	long fd = pft_sys_openat(AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long bytes = fd < 0 ? 0 : pft_sys_read((int)fd, session->cmdline, sizeof(session->cmdline) - 1);

	session->cmdline_bytes = bytes > 0 ? (uint32_t)bytes : 0;
	if (fd >= 0)
		pft_sys_close((int)fd);
}

// ---- making -----------------------------------------------------------------------------------------

static void add_text(char *to, size_t size, const char *text)
{
	struct pft_text out = pft_text_in(to, size);

	pft_text_add(&out, text ? text : "");
}

static void fill_header(struct pft_session *session, const struct pft_settings *settings,
	const struct pft_place *place, const char *program)
{
	session->clock = pft_clock_is_tsc() ? PFT_CLOCK_TSC : PFT_CLOCK_MONOTONIC;
	session->pid = (uint32_t)pft_sys_getpid();
	session->parent_pid = (uint32_t)pft_sys0(SYS_getppid);
	session->outer_pid = pft_relatives_outer_pid();
	session->mode = settings->mode;
	session->overflow = settings->overflow;
	session->min_duration_ns = settings->min_duration_ns;
	session->max_depth = settings->max_depth;
	session->segment_bytes = settings->segment_bytes;
	session->segments_kept = settings->segments_kept;
	session->compress = settings->compress;
	session->segments.number = 1;
	fill_clocks(session);
	read_command_line(session);
	add_text(session->process, sizeof(session->process), program);
	session->files = (place->wanted & PFT_FILE_BIT(PFT_FILE_TRACE) ? PFT_SESSION_PACKETS : 0) |
			 (place->wanted & PFT_FILE_BIT(PFT_FILE_JSON) ? PFT_SESSION_JSON : 0);
	add_text(session->trace_path, sizeof(session->trace_path), pft_place_shown(place));
	add_text(session->selectors, sizeof(session->selectors), settings->functions);
	session->selectors_bytes = (uint32_t)strlen(session->selectors);
}

static bool reserve_stack_heads(struct pft_session *session)
{
	return session->frames_max == 0 ||
	       pft_pages_reserve(pft_session_stack_head(session, 0), PFT_STACK_HEADS * sizeof(uint32_t));
}

static struct pft_session *make(
	const struct pft_settings *settings, const struct pft_place *place, uint32_t threads_max)
{
	struct pft_session layout = lay_out(settings, threads_max);
	struct pft_session *session = map_somewhere(&layout, place);

	if (pft_sys_failed(session))
		return NULL;
	*session = layout;
	if (reserve_stack_heads(session))
		return session;
	pft_sys_munmap(session, layout.bytes);
	pft_store_remove(place);
	return NULL;
}

struct pft_session *pft_store_make(
	const struct pft_settings *settings, const struct pft_place *place, const char *program)
{
	struct pft_relative before = {0}, parent = {0};
	struct pft_session *session = NULL;
	uint32_t threads_max;

	pft_relatives_before(&before, &parent);
	// Address space may be limited: fewer threads can record then.
	for (threads_max = 4096; threads_max >= 4 && !session; threads_max /= 4)
		if (lay_out(settings, threads_max).bytes <= address_space() / 16)
			session = make(settings, place, threads_max);
	if (!session)
		return NULL;
	fill_header(session, settings, place, program);
	session->before = before;
	if (!session->outer_pid) // it may have had the outer /proc still
		session->outer_pid = before.outer_pid;
	session->parent = parent;
	return session;
}

static bool copy_part(struct pft_session *to, const struct pft_session *from, uint64_t at, uint64_t bytes)
{
	if (!pft_pages_reserve((char *)to + at, bytes))
		return false;
	memcpy((char *)to + at, (const char *)from + at, bytes);
	return true;
}

// The parent may be adding hooks and mappings meanwhile. It stores their numbers last, so what is read first
// is whole. Its stacks are not copied: frames have other numbers here.
static int copy_tables(struct pft_session *to, const struct pft_session *from)
{
	uint32_t mappings = __atomic_load_n(&from->mappings, __ATOMIC_ACQUIRE);
	uint32_t hooks = __atomic_load_n(&from->hooks, __ATOMIC_ACQUIRE);
	uint32_t strings = __atomic_load_n(&from->strings_used, __ATOMIC_RELAXED);

	if (!copy_part(to, from, from->hooks_at, hooks * sizeof(struct pft_session_hook)) ||
		(mappings > 1 && !copy_part(to, from, from->mappings_at,
					 mappings * sizeof(struct pft_session_mapping))) ||
		!copy_part(to, from, from->strings_at, strings))
		return -ENOSPC;
	to->strings_used = strings;
	to->hooks = hooks;
	to->mappings = mappings;
	return 0;
}

void pft_store_abandon(void)
{
	pft_sys_mmap(pft_session, pft_session->bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

int pft_store_make_again(
	const struct pft_settings *settings, const struct pft_place *place, const char *program)
{
	struct pft_session *present = pft_session;
	struct pft_session *fresh = pft_store_make(settings, place, program);
	uint64_t bytes = present->bytes;

	if (fresh)
		fresh->window = pft_session_window(present);
	if (fresh && fresh->bytes == bytes && copy_tables(fresh, present) == 0 &&
		(void *)pft_sys6(SYS_mremap, (long)fresh, (long)bytes, (long)bytes,
			MREMAP_MAYMOVE | MREMAP_FIXED, (long)present, 0) == present)
		return 0;
	pft_store_abandon();
	pft_store_remove(place);
	return -ENOMEM;
}

bool pft_store_is_file(void)
{
	return file_path[0];
}

void pft_store_remove(const struct pft_place *place)
{
	if (file_path[0])
		pft_sys1(SYS_unlink, file_path);
	pft_sys1(SYS_unlink, place->session_link);
	file_path[0] = '\0';
}

void pft_store_finish(const struct pft_place *place, bool successor)
{
	pft_session->finished = 1;
	if (!successor)
		pft_store_remove(place);
}

void pft_store_resume(void)
{
	pft_session->finished = 0;
}
