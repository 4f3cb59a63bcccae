// SPDX-License-Identifier: MIT
// The checks of a session: see check.h. The rule: the parts lie in the order of the drawing in session.h and
// do not overlap, so that what is written to one cannot change another that was found good.
#include "encoder/recover/check.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/commit.h"

#define SLOT sizeof(struct pft_record)

// More than any library makes, and little enough that no product of two of them overflows.
#define BYTES_MAX (UINT64_C(1) << 46)
#define RING_BYTES_MAX (UINT64_C(1) << 30)
#define THREADS_MAX (1u << 20)
#define SEQUENCES_MAX (1u << 30)

// ---- header -----------------------------------------------------------------------------------------

// A part of so many bytes that begins at or after `*end`, and before what comes next. Moves the end behind
// it.
static bool follows(uint64_t *end, uint64_t at, uint64_t bytes)
{
	if (at < *end || at > BYTES_MAX || at % SLOT != 0 || bytes > BYTES_MAX)
		return false;
	*end = at + bytes;
	return true;
}

// They may be left out where no stacks are taken.
static bool stacks_follow(uint64_t *end, const struct pft_session *s)
{
	return s->frames_max == 0 ||
	       (follows(end, s->mappings_at, s->mappings * sizeof(struct pft_session_mapping)) &&
		       follows(end, s->frames_at, s->frames_max * sizeof(struct pft_session_frame)));
}

static bool parts_fit(const struct pft_session *s)
{
	uint64_t end = sizeof *s;
	uint64_t threads = s->threads_max;

	return follows(&end, s->hooks_at, s->hooks * sizeof(struct pft_session_hook)) &&
	       follows(&end, s->strings_at, s->strings_bytes) && stacks_follow(&end, s) &&
	       follows(&end, s->threads_at, threads * sizeof(struct pft_session_thread)) &&
	       follows(&end, s->commit_at[0], s->commit_bytes) &&
	       follows(&end, s->commit_at[1], s->commit_bytes) &&
	       follows(&end, s->rings_at, threads * s->ring_bytes) && end <= s->bytes;
}

static bool numbers_make_sense(const struct pft_session *s)
{
	return s->clock <= PFT_CLOCK_MONOTONIC && s->mode <= PFT_MODE_DEV &&
	       s->compress <= PFT_COMPRESS_ZSTD && s->overflow <= PFT_OVERFLOW_OVERWRITE && s->pid != 0 &&
	       s->threads_max >= 1 && s->threads_max <= THREADS_MAX && s->hooks >= PFT_HOOK_FIRST &&
	       s->hooks <= PFT_HOOKS_MAX && s->mappings <= PFT_MAPPINGS_MAX &&
	       s->frames_max <= PFT_FRAMES_MAX && s->strings_bytes >= 1 &&
	       s->strings_used <= s->strings_bytes && s->ring_bytes >= 16 * SLOT &&
	       s->ring_bytes <= RING_BYTES_MAX && (s->ring_bytes & (s->ring_bytes - 1)) == 0 &&
	       s->foreign_max <= PFT_FOREIGN_MAX &&
	       s->commit_bytes >= sizeof(struct pft_commit) +
					  s->foreign_max * sizeof(struct pft_open_foreign) +
					  (uint64_t)s->threads_max * sizeof(struct pft_commit_thread);
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool texts_end(const struct pft_session *s)
{
	return ends(s->process, sizeof s->process) && ends(s->trace_path, sizeof s->trace_path) &&
	       ends(s->selectors, sizeof s->selectors) && s->selectors_bytes < sizeof s->selectors &&
	       s->cmdline_bytes < sizeof s->cmdline;
}

const char *pft_check_header(const struct pft_session *session, uint64_t file_bytes)
{
	if (session->magic != PFT_SESSION_MAGIC)
		return "is no session";
	if (session->version != PFT_SESSION_VERSION)
		return "is a session of another version of pftshim, which has to recover it";
	if (!numbers_make_sense(session) || !texts_end(session) || !parts_fit(session))
		return "is a damaged session: its header makes no sense";
	if (session->bytes > file_bytes)
		return "is a damaged session: the file has been cut";
	return NULL;
}

// ---- tables -----------------------------------------------------------------------------------------

static bool hooks_have_names(struct pft_session *s)
{
	for (uint32_t id = 0; id < s->hooks; id++) {
		const struct pft_session_hook *hook = pft_session_hook(s, id);

		if (hook->symbol >= s->strings_bytes || hook->object >= s->strings_bytes)
			return false;
	}
	return *pft_session_string(s, s->strings_bytes - 1) == '\0';
}

static bool is_call(const struct pft_session *s, uint32_t id, uint32_t stack)
{
	return id < s->hooks && (stack == 0 || stack < s->frames_max);
}

static bool opens_are_calls(const struct pft_session *s, const struct pft_commit_thread *kept)
{
	for (uint32_t i = 0; i < kept->depth && i < PFT_DEPTH_MAX; i++)
		if (!is_call(s, kept->open[i].id, kept->open[i].stack))
			return false;
	return true;
}

static bool foreign_are_calls(struct pft_session *s, struct pft_commit *commit)
{
	const struct pft_open_foreign *list = pft_commit_foreign(s, commit);

	for (uint32_t i = 0; i < commit->foreign; i++)
		if (!is_call(s, list[i].id, list[i].stack))
			return false;
	return true;
}

static bool threads_make_sense(struct pft_session *s)
{
	struct pft_commit *commit = pft_session_commit(s, s->generation);

	if (commit->sequences > SEQUENCES_MAX || commit->foreign > s->foreign_max ||
		!foreign_are_calls(s, commit))
		return false;
	for (uint32_t index = 0; index < s->threads_max; index++) {
		const struct pft_commit_thread *kept = pft_commit_thread(commit, index);

		if (pft_session_thread(s, index)->begin_at % SLOT != 0 || kept->tail % SLOT != 0)
			return false;
		if (kept->depth != PFT_COMMIT_ENDED && !opens_are_calls(s, kept))
			return false;
	}
	return true;
}

const char *pft_check_tables(struct pft_session *session)
{
	if (!hooks_have_names(session) || !threads_make_sense(session))
		return "is a damaged session: its tables make no sense";
	return NULL;
}
